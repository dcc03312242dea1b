package gate

import "testing"

// Reports are written by the work under test: whatever is in them, parsing ends
// and counts no more covered lines than there are.
func FuzzCoverageReports(f *testing.F) {
	for _, seed := range []string{
		"mode: set\na.go:1.2,3.4 3 1\n", "SF:a\nDA:1,1\nLF:1\nLH:1\nend_of_record\n",
		`<coverage lines-covered="1" lines-valid="2"><packages/></coverage>`, `<report><counter type="LINE" missed="1" covered="2"/></report>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		for name := range parsers {
			c := Coverage{Format: name}
			got, err := c.parseBytes(report)
			if err == nil && (got.total <= 0 || got.covered < 0 || got.covered > got.total) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	})
}

package gate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// parseGoProfile reads a profile of `go test -coverprofile`. A block that
// several packages' tests report (-coverpkg) counts once.
func parseGoProfile(data []byte) (share, error) {
	type block struct {
		statements int64
		ran        bool
	}
	blocks := make(map[string]block)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "mode:") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return share{}, fmt.Errorf("not a Go cover profile: %.80q", line)
		}
		where := strings.Join(fields[:len(fields)-2], " ")
		statements, err1 := strconv.ParseInt(fields[len(fields)-2], 10, 32)
		count, err2 := strconv.ParseUint(fields[len(fields)-1], 10, 64)
		if err1 != nil || err2 != nil || statements < 0 {
			return share{}, fmt.Errorf("not a Go cover profile: %.80q", line)
		}
		blocks[where] = block{statements, blocks[where].ran || count > 0}
	}
	var s share
	for _, b := range blocks {
		s.total += b.statements
		if b.ran {
			s.covered += b.statements
		}
	}
	return s, nil
}

// parseLCOV reads an lcov tracefile: lines by DA records, or where a tool wrote
// none, the sums LF and LH. A line that several tests report counts once.
func parseLCOV(data []byte) (share, error) {
	lines := make(map[string]bool)
	var sums share
	file, records := "", 0
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		records++
		switch key {
		case "SF":
			file = value
		case "DA":
			number, rest, _ := strings.Cut(value, ",")
			hits, _, _ := strings.Cut(rest, ",")
			n, err := strconv.ParseFloat(hits, 64) // some tools write 1e+06
			if err != nil {
				return share{}, fmt.Errorf("not an lcov tracefile: %.80q", line)
			}
			where := file + ":" + number
			lines[where] = lines[where] || n > 0
		case "LF", "LH":
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return share{}, fmt.Errorf("not an lcov tracefile: %.80q", line)
			}
			if key == "LF" {
				sums.total += n
			} else {
				sums.covered += n
			}
		}
	}
	if records == 0 {
		return share{}, errors.New("not an lcov tracefile")
	}
	if len(lines) == 0 {
		return sums, nil
	}
	s := share{total: int64(len(lines))}
	for _, hit := range lines {
		if hit {
			s.covered++
		}
	}
	return s, nil
}

// parseCobertura reads the sums in the root element, or where a tool wrote only
// a rate, that with the lines it lists.
func parseCobertura(data []byte) (share, error) {
	var report struct {
		XMLName xml.Name `xml:"coverage"`
		Covered *int64   `xml:"lines-covered,attr"`
		Valid   *int64   `xml:"lines-valid,attr"`
		Lines   []struct {
			Hits int64 `xml:"hits,attr"`
		} `xml:"packages>package>classes>class>lines>line"`
	}
	if err := decodeXML(data, &report); err != nil {
		return share{}, fmt.Errorf("not a Cobertura report: %w", err)
	}
	if report.Covered != nil && report.Valid != nil {
		return share{*report.Covered, *report.Valid}, nil
	}
	s := share{total: int64(len(report.Lines))}
	for _, line := range report.Lines {
		if line.Hits > 0 {
			s.covered++
		}
	}
	return s, nil
}

// parseJaCoCo reads the line counter of the whole report.
func parseJaCoCo(data []byte) (share, error) {
	var report struct {
		XMLName  xml.Name `xml:"report"`
		Counters []struct {
			Type    string `xml:"type,attr"`
			Missed  int64  `xml:"missed,attr"`
			Covered int64  `xml:"covered,attr"`
		} `xml:"counter"`
	}
	if err := decodeXML(data, &report); err != nil {
		return share{}, fmt.Errorf("not a JaCoCo report: %w", err)
	}
	for _, c := range report.Counters {
		if c.Type == "LINE" {
			return share{c.Covered, c.Covered + c.Missed}, nil
		}
	}
	return share{}, errors.New("not a JaCoCo report: it has no LINE counter")
}

// decodeXML takes every declared encoding for UTF-8: what is read of a report
// is ASCII in all of them.
func decodeXML(data []byte, v any) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d.Decode(v)
}

package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backburner-cli/backburner/pkg/gate"
)

const (
	goProfile = "mode: atomic\na/b.go:1.2,3.4 3 1\na/b.go:5.1,6.2 1 0\na/b.go:1.2,3.4 3 0\n" // the first block twice
	lcov      = "TN:one\nSF:a.js\nDA:1,1\nDA:2,0\nDA:3,2\nLF:9\nLH:9\nend_of_record\nTN:two\nSF:a.js\nDA:2,0\nDA:4,1e+06\nend_of_record\n"
	lcovSums  = "SF:a.js\nLF:4\nLH:3\nend_of_record\n"
	cobertura = `<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage line-rate="0.75" lines-covered="75" lines-valid="100" version="1"><packages/></coverage>`
	coberturaLines = `<coverage line-rate="0.75"><packages><package name="p"><classes><class name="c"><methods><method><lines>
<line number="1" hits="0"/></lines></method></methods><lines><line number="1" hits="1"/><line number="2" hits="1"/><line number="3" hits="1"/>
<line number="4" hits="0"/></lines></class></classes></package></packages></coverage>`
	jacoco = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">
<report name="r"><package name="p"><counter type="LINE" missed="90" covered="10"/></package><counter type="BRANCH" missed="1" covered="0"/>
<counter type="LINE" missed="5" covered="15"/></report>`
)

func TestCoverage(t *testing.T) {
	tests := []struct {
		name, format, report string
		minimum              float64
		reason, detail       string
	}{
		{"go, enough", "go", goProfile, 75, "", ""},
		{"go, too little", "go", goProfile, 75.5, gate.LowCoverage, "coverage 75.0 % is below 75.5 % (3 of 4, report)"},
		{"lcov, enough", "lcov", lcov, 75, "", ""},
		{"lcov, too little", "lcov", lcov, 76, gate.LowCoverage, "3 of 4"},
		{"lcov, sums only", "lcov", lcovSums, 76, gate.LowCoverage, "3 of 4"},
		{"cobertura, enough", "cobertura", cobertura, 75, "", ""},
		{"cobertura, too little", "cobertura", cobertura, 76, gate.LowCoverage, "75 of 100"},
		{"cobertura, lines only", "cobertura", coberturaLines, 76, gate.LowCoverage, "3 of 4"},
		{"jacoco, enough", "jacoco", jacoco, 75, "", ""},
		{"jacoco, too little", "jacoco", jacoco, 80, gate.LowCoverage, "15 of 20"},
		{"nearly enough is shown as too little", "cobertura", `<coverage lines-covered="7999" lines-valid="10000"/>`, 80, gate.LowCoverage, "coverage 79.9 % is below 80 %"},
		{"nothing counted", "go", "mode: set\n", 0, gate.NoCoverage, "counts no lines"},
		{"negative sums", "cobertura", `<coverage lines-covered="-1" lines-valid="-1"/>`, 0, gate.NoCoverage, "counts no lines"},
		{"another format", "go", lcov, 0, gate.NoCoverage, "not a Go cover profile"},
		{"not lcov", "lcov", "hello\n", 0, gate.NoCoverage, "not an lcov tracefile"},
		{"not XML", "jacoco", "hello", 0, gate.NoCoverage, "not a JaCoCo report"},
		{"another root", "cobertura", jacoco, 0, gate.NoCoverage, "not a Cobertura report"},
		{"no such format", "clover", "x", 0, gate.NoCoverage, "not one of the formats"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, sh("test", "cp ../source report"))
			must(t, os.WriteFile(filepath.Join(b.call.Workspace, "..", "source"), []byte(tt.report), 0o644))
			b.call.Gate.Coverage = []gate.Coverage{{File: "report", Format: tt.format, Minimum: tt.minimum}}
			o := b.run()
			if o.Green != (tt.reason == "") || o.Reason != tt.reason || !strings.Contains(o.Detail, tt.detail) {
				t.Errorf("outcome %+v, want %q with %q", o, tt.reason, tt.detail)
			}
		})
	}
}

func TestCoverageMustBeOfThisRun(t *testing.T) {
	b := newBench(t, sh("test", "true"))
	b.call.Gate.Coverage = []gate.Coverage{{File: "report", Format: "go", Minimum: 1}}
	if o := b.run(); o.Reason != gate.NoCoverage || !strings.Contains(o.Detail, "it is not there") {
		t.Errorf("outcome %+v without a report", o)
	}
	must(t, os.WriteFile(filepath.Join(b.call.Workspace, "report"), []byte(goProfile), 0o644))
	if o := b.run(); o.Reason != gate.NoCoverage || !strings.Contains(o.Detail, "no step of this run wrote it") {
		t.Errorf("outcome %+v with a report that was there before", o)
	}
}

func TestCoverageIsNoLinkOut(t *testing.T) {
	b := newBench(t, sh("test", "ln -s ../elsewhere report"))
	must(t, os.WriteFile(filepath.Join(b.call.Workspace, "..", "elsewhere"), []byte(goProfile), 0o644))
	b.call.Gate.Coverage = []gate.Coverage{{File: "report", Format: "go", Minimum: 1}}
	if o := b.run(); o.Reason != gate.NoCoverage {
		t.Errorf("outcome %+v", o)
	}
}

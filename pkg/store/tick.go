package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/backburner-cli/backburner/pkg/atomicfile"
	"github.com/backburner-cli/backburner/pkg/work"
)

const (
	dayFormat = "2006-01-02"
	// maxTickLine is the most bytes that are read of one tick's line; longer
	// ones are passed over.
	maxTickLine = 8 << 20
	// tickTail is what is read first of a day to find its last line.
	tickTail = 32 << 10
)

// AppendTick adds a line to the log of the day the tick started (UTC). It is
// not made durable: a power loss may take it.
func (s *Store) AppendTick(t work.Tick) error {
	line, err := json.Marshal(t)
	if err == nil {
		err = s.appendLine(s.tickFile(t.StartedAt.UTC().Format(dayFormat)), line)
	}
	if err != nil {
		return fmt.Errorf("log tick %s: %w", t.ID, err)
	}
	return nil
}

func (s *Store) tickFile(day string) string { return s.path("ticks", day+".jsonl") }

// tickDays lists the days there are logs of, oldest first.
func (s *Store) tickDays() ([]string, error) {
	names, err := readNames(s.path("ticks"))
	if err != nil {
		return nil, err
	}
	var days []string
	for _, name := range names {
		day, ok := strings.CutSuffix(name, ".jsonl")
		if _, err := time.Parse(dayFormat, day); ok && err == nil {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	return days, nil
}

// LastTick is the line that was logged last, nil when there is none. It reads
// no more than the end of the newest log.
func (s *Store) LastTick() (*work.Tick, error) {
	days, err := s.tickDays()
	if err != nil {
		return nil, fmt.Errorf("read tick log: %w", err)
	}
	for _, day := range slices.Backward(days) {
		t, err := lastLine(s.tickFile(day))
		if err != nil {
			return nil, fmt.Errorf("read tick log: %w", err)
		}
		if t != nil {
			return t, nil
		}
	}
	return nil, nil
}

// lastLine is the last tick in a log, nil when no line is one.
func lastLine(path string) (*work.Tick, error) {
	f, size, err := openLog(path)
	if f == nil {
		return nil, err
	}
	defer f.Close()
	for tail := int64(tickTail); ; tail *= 2 {
		start := max(size-tail, 0)
		text := make([]byte, size-start)
		if _, err := f.ReadAt(text, start); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for len(text) > 0 { // the first line may be cut: the end of a tick is no tick
			text = bytes.TrimRight(text, "\n")
			line := text[bytes.LastIndexByte(text, '\n')+1:]
			if t, ok := tickOf(line); ok {
				return t, nil
			}
			text = text[:len(text)-len(line)]
		}
		if start == 0 || tail > maxTickLine {
			return nil, nil
		}
	}
}

// openLog opens a log for reading; the file is nil when there is none.
func openLog(path string) (*os.File, int64, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w (move it away)", path, atomicfile.ErrNotRegular)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// tickOf reads a line. Lines that a crash cut short are no ticks.
func tickOf(line []byte) (*work.Tick, bool) {
	t := new(work.Tick)
	if len(bytes.TrimSpace(line)) == 0 || json.Unmarshal(line, t) != nil || t.ID == "" {
		return nil, false
	}
	return t, true
}

// Ticks reads the ticks that started at since or later, in the order in which
// they were logged. Lines that are no ticks are passed over.
func (s *Store) Ticks(since time.Time) ([]work.Tick, error) {
	days, err := s.tickDays()
	if err != nil {
		return nil, fmt.Errorf("read tick log: %w", err)
	}
	var ticks []work.Tick
	for _, day := range days {
		if !since.IsZero() && day < since.UTC().Format(dayFormat) {
			continue
		}
		err := eachLine(s.tickFile(day), func(line []byte) {
			if t, ok := tickOf(line); ok && !t.StartedAt.Before(since) {
				ticks = append(ticks, *t)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("read tick log: %w", err)
		}
	}
	return ticks, nil
}

// eachLine calls do with each line of a log that is at most maxTickLine long;
// do must not keep the slice.
func eachLine(path string, do func(line []byte)) error {
	f, _, err := openLog(path)
	if f == nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxTickLine; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !long {
			do(line)
		}
		line, long = line[:0], false
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

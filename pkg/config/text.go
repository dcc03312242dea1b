package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// setText sets a scalar or a list from text, as environment variables, flags and
// defaults have it. It returns what is wrong, or "".
func setText(v reflect.Value, text string) string {
	switch shapeOf(v.Type()) {
	case scalar:
		return setScalarText(v, text)
	case list:
		return setListText(v, text)
	}
	return "cannot be given here; write it in the file"
}

func setListText(v reflect.Value, text string) string {
	elements := reflect.MakeSlice(v.Type(), 0, 1)
	if strings.TrimSpace(text) != "" {
		for part := range strings.SplitSeq(text, ",") {
			e := reflect.New(v.Type().Elem()).Elem()
			if complaint := setScalarText(e, strings.TrimSpace(part)); complaint != "" {
				return complaint
			}
			elements = reflect.Append(elements, e)
		}
	}
	v.Set(elements)
	return ""
}

func setScalarText(v reflect.Value, text string) string {
	switch {
	case isText(v.Type()):
		return unmarshalText(v, text)
	case v.Type() == durationType:
		return setDuration(v, text)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Sprintf("%q is neither true nor false", text)
		}
		v.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Sprintf("%q is not a whole number", text)
		}
		v.SetInt(int64(n))
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !isFinite(n) {
			return fmt.Sprintf("%q is not a number", text)
		}
		v.SetFloat(n)
	}
	return ""
}

func isFinite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

// unmarshalText is for values that parse themselves; their errors say what to do.
func unmarshalText(v reflect.Value, text string) string {
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		return err.Error()
	}
	return ""
}

func setDuration(v reflect.Value, text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Sprintf("%q is not a duration; write a number with a unit, such as \"90s\", \"45m\" or \"1h30m\"", text)
	}
	v.SetInt(int64(d))
	return ""
}

// constrain checks a value, or each element of a list, against the tags of its
// field. complain gets the element's index, or -1, and what is wrong.
func constrain(v reflect.Value, f *field, complain func(i int, complaint string)) {
	switch shapeOf(v.Type()) {
	case scalar:
		if complaint := f.complaint(v); complaint != "" {
			complain(-1, complaint)
		}
	case list:
		if check := listChecks[f.check]; check != nil {
			if i, complaint := check(v.Interface().([]string)); complaint != "" {
				complain(i, complaint)
			}
			return
		}
		for i := range v.Len() {
			if complaint := f.complaint(v.Index(i)); complaint != "" {
				complain(i, complaint)
			}
		}
	}
}

// complaint says what the field's tags have against a scalar.
func (f *field) complaint(v reflect.Value) string {
	switch {
	case v.Type() == durationType:
		return f.outOfRange(float64(v.Int()), func(text string) float64 {
			d, _ := time.ParseDuration(text)
			return float64(d)
		}, func(float64) string { return formatDuration(time.Duration(v.Int())) })
	case v.Kind() == reflect.Int:
		return f.outOfRange(float64(v.Int()), parseBound, formatNumber)
	case v.Kind() == reflect.Float64:
		return f.outOfRange(v.Float(), parseBound, formatNumber)
	case v.Kind() != reflect.String || isText(v.Type()):
		return ""
	case f.enum != nil:
		return oneOf(v.String(), f.enum)
	case strings.ContainsRune(v.String(), 0):
		return "contains a NUL byte; remove it"
	case f.check != "" && v.String() != "":
		return checks[f.check](v.String())
	}
	return ""
}

func parseBound(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// formatDuration is the shortest form that parses: "45m", not "45m0s".
func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (f *field) outOfRange(n float64, bound func(string) float64, show func(float64) string) string {
	switch {
	case f.min != "" && n < bound(f.min):
		return fmt.Sprintf("%s is too little; at least %s", show(n), f.min)
	case f.max != "" && n > bound(f.max):
		return fmt.Sprintf("%s is too much; at most %s", show(n), f.max)
	}
	return ""
}

func oneOf(text string, allowed []string) string {
	for _, a := range allowed {
		if a == text {
			return ""
		}
	}
	return fmt.Sprintf("%q is not known; %s", text, meant(text, allowed))
}

package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// envPrefix begins the names of all environment variables of backburner.
const envPrefix = "BACKBURNER_"

// configEnv names the configuration file.
const configEnv = envPrefix + "CONFIG"

// notSettings are the variables with that prefix that are no settings: those of
// the contract with custom agents, which a backburner started by an agent inherits.
var notSettings = []string{
	configEnv, "BACKBURNER_TASK_ID", "BACKBURNER_TASK_KIND", "BACKBURNER_ROLE", "BACKBURNER_WORKSTREAM", "BACKBURNER_EXECUTION",
	"BACKBURNER_PROMPT_FILE", "BACKBURNER_PACKET_FILE", "BACKBURNER_RESULT_FILE", "BACKBURNER_SESSION_ID", "BACKBURNER_MCP_CONFIG",
}

// envName is the environment variable of a key with a fixed place.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// target is a setting that the environment and flags can reach.
type target struct {
	value reflect.Value
	field field
}

// targets are the scalars and lists with a fixed place, by key.
func targets(of reflect.Value, prefix string, found map[string]target) map[string]target {
	for _, f := range fieldsOf(of.Type()) {
		key := join(prefix, f.name)
		switch v := of.Field(f.index); shapeOf(f.typ) {
		case scalar, list:
			found[key] = target{value: v, field: f}
		case table:
			if v.Kind() == reflect.Struct {
				targets(v, key, found)
			}
		}
	}
	return found
}

// overlay puts the environment and then the flags over what the file said.
func (c *Config) overlay(s Sources, ps *problems) {
	reachable := targets(reflect.ValueOf(c).Elem(), "", map[string]target{})
	byEnv := map[string]string{}
	for key := range reachable {
		byEnv[envName(key)] = key
	}
	env := s.environment()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		origin := Origin{Kind: FromEnvironment, File: name}
		key, known := byEnv[name]
		if env[name] == "" && (!known || shapeOf(reachable[key].field.typ) != list) {
			continue // as good as not set, where it could not be unset; but an empty list is one
		}
		if known {
			c.override(key, env[name], origin, reachable[key], ps)
		} else if near := nearMiss(name, byEnv); near != "" {
			ps.add(origin, "", fmt.Sprintf("is no setting; did you mean %s? If it is not meant for backburner, rename it", near))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Flags)) {
		origin := Origin{Kind: FromFlag, File: "flag"}
		if t, known := reachable[key]; known {
			c.override(key, s.Flags[key], origin, t, ps)
		} else {
			ps.add(origin, key, "there is no such key; use one of the keys with a fixed place")
		}
	}
}

func (c *Config) override(key, text string, origin Origin, t target, ps *problems) {
	if complaint := setText(t.value, text); complaint != "" {
		ps.add(origin, key, complaint)
		return
	}
	c.origins[key] = origin
	constrain(t.value, &t.field, func(_ int, complaint string) { ps.add(origin, key, complaint) })
}

// nearMiss is the variable that was probably meant by a name with our prefix that
// is no setting, or "": a letter wrong, or the table left out. Other names are not
// ours to judge: wrappers and agents may have their own.
func nearMiss(name string, byEnv map[string]string) string {
	if slices.Contains(notSettings, name) || !strings.HasPrefix(name, envPrefix) {
		return ""
	}
	rest := strings.TrimPrefix(name, envPrefix)
	best, least := "", 3
	for _, known := range slices.Sorted(maps.Keys(byEnv)) {
		key := strings.TrimPrefix(known, envPrefix)
		_, last, _ := cutLast(byEnv[known])
		if strings.EqualFold(rest, last) && strings.Contains(last, "_") {
			return known
		}
		if d := distance(rest, key); len(rest) < 64 && d < least && d <= len(key)/4 {
			best, least = known, d
		}
	}
	return best
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// settings are the settings that a container gives to etcd. With a configuration file etcd uses only
// that file. Without one it uses a flag, a variable of the environment, or its default, in this
// order.
type settings struct {
	flags map[string]string
	env   func(name string) (string, bool)
	file  map[string]any
	path  string // the file's, empty for none
	// origin is the object that has the file.
	origin Origin
	// opaque is an argument that the pod alone knows, and that may stand for any flags. Empty for none.
	opaque string
	// launcher is the program that starts etcd, or the image, where the container doesn't execute etcd itself. It may
	// give etcd any setting that the container doesn't have. Empty for none.
	launcher string
	// unknown are the errors of the variables whose values are not known, by name.
	unknown map[string]error
	// script is true where a shell script has the flags, and scriptFile is its path where it is a
	// file. inScript reports whether the script sets a variable.
	script     bool
	scriptFile string
	inScript   func(variable string) bool
	// others are the settings that the other ways of the script give to etcd.
	others []*settings
	// sourced is true where the script executes a file or text that isn't read, which may set variables.
	sourced bool
	// replaced are the paths at which etcd may see other files than those of its container, with what replaces them.
	replaced map[string]string
	// many is the error of a script with more ways than are read, nil for none.
	many error
}

// get returns the value of the setting with a flag's name, and its origin. It returns false where
// nothing sets it. The error is why the value, or whether anything sets it, is not known.
func (s *settings) get(flag string) (value, where string, ok bool, err error) {
	if value, where, ok, err = s.own(flag); err == nil {
		err = s.many
	}
	for _, o := range s.others {
		v, at, has, unknown := o.own(flag)
		// etcd that has data ignores the flags of its first start, so scripts leave them out.
		switch first := strings.HasPrefix(flag, "initial-"); {
		case first && !ok && has:
			value, where, ok, err = v, at, true, cmp.Or(err, unknown)
		case err == nil && unknown != nil && !first:
			err = unknown
		case err == nil && (v != value || has != ok) && (!first || has):
			err = errWays
		}
	}
	return value, where, ok, err
}

// errSourced is returned for a setting that nothing sets which is read, or that needs a variable of which this holds.
var errSourced = errors.New("the script that starts etcd executes a file or text that is only known in the pod")

// errWays is returned for a setting that the ways of a script give different values.
var errWays = errors.New("the ways of the script that starts etcd give it different values")

// own returns what get returns, for one way of a script.
func (s *settings) own(flag string) (value, where string, ok bool, err error) {
	if s.path != "" {
		value, ok = fromFile(s.file, flag)
		return value, "config file " + s.path, ok, nil
	}
	if value, ok = s.flags[flag]; ok {
		if err = s.unknownIn(value); err == nil && s.sourced && unresolved(value) {
			err = errSourced
		}
		return value, s.in("flag", s.script), true, err
	}
	variable := "ETCD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	value, ok = s.env(variable)
	switch {
	case ok && value != "": // etcd takes no empty variable
		inScript := s.inScript != nil && s.inScript(variable)
		err = s.unknownIn(value)
		if s.sourced && !inScript { // what is not read may set it, too
			err = cmp.Or(err, errSourced)
		}
		return value, s.in("env "+variable, inScript), true, err
	case s.opaque != "":
		return "", "", false, fmt.Errorf("arguments of etcd are only known in the pod: %s", s.opaque)
	case s.sourced:
		return "", "", false, errSourced
	case s.launcher != "":
		return "", "", false, fmt.Errorf("what %s gives to etcd is only known in the pod", s.launcher)
	}
	return "", "", false, s.unknown[variable]
}

// unknownIn returns why a value is not known that refers to an unknown variable, nil for any other.
func (s *settings) unknownIn(value string) error {
	if !strings.Contains(value, "$") {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.unknown)) {
		for _, reference := range []string{"$(" + name + ")", "${" + name, "$" + name} {
			if strings.Contains(value, reference) {
				return s.unknown[name]
			}
		}
	}
	return nil
}

func (s *settings) in(where string, script bool) string {
	if script {
		return strings.TrimSpace(where + " in script " + s.scriptFile)
	}
	return where
}

// settingsOf reads how the container starts etcd.
func settingsOf(env *environment, wrapped bool) (*settings, error) {
	c := env.container
	var long error
	expand := func(argv []string) []string {
		out := make([]string, len(argv))
		for i, w := range argv {
			value, err := expandReferences(w, env.lookup)
			if err != nil {
				long = fmt.Errorf("argument of container %s: %w", c.Name, err)
			}
			out[i] = value
		}
		return out
	}
	started := script.Start(expand(c.Command), expand(c.Args), surroundingsOf(env.pod, c, env.contents))
	s := &settings{env: env.lookup, unknown: env.unknown, flags: map[string]string{}, replaced: started.Replaced()}
	if len(c.VolumeDevices) > 0 {
		s.replaced["/"] = "a mount of a block device"
	}
	argv := started.Args
	switch {
	case long != nil:
		return s, long
	case wrapped:
		return s, s.wrapped(env)
	case started.Script != nil:
		if err := started.Script.Unread(); err != nil {
			return s, err
		}
		argv = s.of(started.Way(env.behind(started.Env), hostname(env.pod)), started.File)
		if err := s.readOthers(started, env); err != nil {
			return s, err
		}
	case started.Program != "etcd":
		// A declared launcher, or an image that decides. It may pass its flags on.
		argv = flagsIn(slices.Concat(expand(c.Command), expand(c.Args)))
		s.launcher = launcherOf(c, started, env.contents)
	default:
		s.env = func(name string) (string, bool) { return started.Env.Lookup(name, env.lookup) }
		s.launcher = cmp.Or(started.Env.Resets, launcherOf(c, started, env.contents))
	}
	var rest []string
	if s.flags, rest = script.Flags(argv); len(rest) > 0 && unresolved(rest[0]) {
		s.opaque = script.Cut(rest[0])
	}
	return s, s.readFile(env)
}

// flagsIn returns a command's arguments from the first flag with two dashes on.
func flagsIn(argv []string) []string {
	at := slices.IndexFunc(argv, func(w string) bool { return strings.HasPrefix(w, "--") && len(w) > len("--") })
	if at < 0 {
		return nil
	}
	return argv[at:]
}

// druidConfigFile is the key of the ConfigMap from which etcd-backup-restore makes each member's
// configuration file, which etcd-wrapper fetches.
const druidConfigFile = "etcd.conf.yaml"

// wrapped reads the configuration that etcd-wrapper will fetch.
func (s *settings) wrapped(env *environment) error {
	for i := range env.pod.Spec.Volumes {
		from, _ := sourcesOf(&env.pod.Spec.Volumes[i])
		if len(from) != 1 || from[0].kind != "ConfigMap" {
			continue
		}
		if key, _ := from[0].keyOf(druidConfigFile); key == "" {
			continue
		}
		data, err := env.contents("ConfigMap", from[0].name)
		if err != nil {
			return fmt.Errorf("configuration of etcd: %w", err)
		}
		text, ok := data[druidConfigFile]
		if !ok {
			continue
		}
		s.path, s.origin = druidConfigFile, Origin{Kind: from[0].kind, Name: from[0].name, Key: druidConfigFile}
		if err := s.parse(text); err != nil {
			return err
		}
		s.resolve(env.pod.Name)
		return nil
	}
	return fmt.Errorf("configuration of etcd: no ConfigMap of pod %s/%s has the key %s", env.pod.Namespace, env.pod.Name, druidConfigFile)
}

// resolve converts the configuration of all members into that of one, as etcd-backup-restore does.
func (s *settings) resolve(pod string) {
	name := pod
	if prefix, _ := s.file["member-name-prefix"].(string); prefix != "" {
		name = prefix + "-" + pod
	}
	s.file["name"] = name
	for _, key := range []string{"advertise-client-urls", "initial-advertise-peer-urls"} {
		if each, ok := s.file[key].(map[string]any); ok {
			s.file[key] = each[name]
		}
	}
}

// wrapperArg is the first argument of druid's etcd-wrapper.
const wrapperArg = "start-etcd"

// wrapper reports whether a container runs druid's etcd-wrapper, whose entry point is not in the pod.
func wrapper(c *corev1.Container) bool { return len(c.Args) > 0 && c.Args[0] == wrapperArg }

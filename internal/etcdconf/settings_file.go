// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// readFile reads the configuration file, if there is one. An envFrom that can't be read may name one,
// and then etcd would ignore all flags and variables of the pod. But no one writes these for nothing, so
// the file counts only if the pod itself shows it: by the flag, an entry of env, or its script. What neither a
// flag nor env sets is unknown in either case, since the same envFrom may set it.
func (s *settings) readFile(env *environment) error {
	s.path = s.flags["config-file"]
	err := s.unknownIn(s.path)
	if s.path == "" {
		s.path, _ = s.env(configFile)
		shown := env.sets(configFile) || s.inScript != nil && s.inScript(configFile)
		if err = cmp.Or(s.unknownIn(s.path), s.unknown[configFile]); err != nil && !shown {
			s.path, err = "", nil
		}
	}
	if s.path == "" || err != nil {
		return err
	}
	if by := s.replacedBy(s.path); by != "" {
		err := &UnreadableError{Namespace: env.pod.Namespace, Pod: env.pod.Name, Path: s.path, Where: "behind " + by}
		return fmt.Errorf("configuration of etcd: %w", err)
	}
	text, origin, err := podFile(env.pod, env.container, s.path, env.contents)
	if err != nil {
		return fmt.Errorf("configuration of etcd: %w", err)
	}
	s.origin = origin
	return s.parse(text)
}

// configFile is the variable that names etcd's configuration file.
const configFile = "ETCD_CONFIG_FILE"

func (s *settings) parse(text []byte) error {
	s.file = map[string]any{}
	if err := yaml.Unmarshal(text, &s.file); err != nil {
		return fmt.Errorf("configuration file %s of etcd: %w", s.path, err)
	}
	return nil
}

// fromFile returns a setting of etcd's configuration file, in which those of certificates are one
// level deeper.
func fromFile(file map[string]any, flag string) (string, bool) {
	section, key := "", flag
	switch flag {
	case "cert-file", "key-file", "trusted-ca-file", "client-cert-auth", "auto-tls":
		section = "client-transport-security"
	case "peer-cert-file", "peer-key-file", "peer-trusted-ca-file", "peer-client-cert-auth", "peer-auto-tls":
		section, key = "peer-transport-security", strings.TrimPrefix(flag, "peer-")
	}
	if section != "" {
		file, _ = file[section].(map[string]any)
	}
	switch v := file[key].(type) {
	case nil:
		return "", false
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = fmt.Sprint(v[i])
		}
		return strings.Join(items, ","), true
	case float64: // every number that YAML gives through JSON
		return fmt.Sprintf("%.0f", v), true
	default:
		return fmt.Sprint(v), true
	}
}

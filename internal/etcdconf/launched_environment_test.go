// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestLaunchedEnvironment has commands in a container with the variable ETCD_NAME, and etcd's name by them. It is empty where
// nothing sets it, and "?" where it isn't known. Arguments are separated by |.
func TestLaunchedEnvironment(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ id, command, want string }{
		{"LE-1 passed on", "nice|-n|5|etcd", "outer"},
		{"LE-2 assigned", "env|ETCD_NAME=a|etcd", "a"},
		{"LE-3 assigned twice", "env|ETCD_NAME=b|env|ETCD_NAME=a|etcd", "a"},
		{"LE-4 an empty environment", "env|-i|etcd", ""},
		{"LE-5 an empty environment among letters", "env|-vi|etcd", ""},
		{"LE-6 an empty environment with it", "env|-|ETCD_NAME=a|etcd", "a"},
		{"LE-7 assigned before it is cleared", "env|ETCD_NAME=b|env|-i|etcd", ""},
		{"LE-8 removed", "env|-u|ETCD_NAME|etcd", ""},
		{"LE-9 removed, with =", "env|--unset=ETCD_NAME|etcd", ""},
		{"LE-10 another one removed", "env|-uX|etcd", "outer"},
		{"LE-11 removed and assigned", "env|-u|ETCD_NAME|ETCD_NAME=a|etcd", "a"},
		{"LE-12 a value like an assignment", "env|-C|ETCD_NAME=b|etcd", "outer"},
		{"LE-13 sudo", "sudo|-E|etcd", "?"},
		{"LE-14 sudo that assigns it", "sudo|ETCD_NAME=a|etcd", "a"},
		{"LE-15 sudo, and the flag", "sudo|etcd|--name|a", "a"},
		{"LE-16 doas", "doas|-u|etcd|etcd", "?"},
		{"LE-17 set again", "setpriv|--reset-env|etcd", "?"},
		{"LE-18 that of another process", "nsenter|-t|1|-e|etcd", "?"},
		{"LE-19 before a shell", "env|ETCD_NAME=a|sh|-c|exec etcd", "a"},
		{"LE-20 before a shell that uses it", "env|N=a|sh|-c|exec etcd --name $N", "a"},
		{"LE-21 an empty environment before a shell", "env|-i|sh|-c|exec etcd", ""},
		{"LE-22 sudo before a shell", "sudo|sh|-c|exec etcd", "?"},
		{"LE-23 a login", "su|-|etcd|-c|exec etcd", "?"},
		{"LE-24 no login", "su|etcd|-c|exec etcd", "outer"},
		{"LE-25 a login, and the flag", "su|-|etcd|-c|exec etcd --name a", "a"},
		{"LE-26 removed in a script", "sh|-c|exec env -u ETCD_NAME etcd", ""},
		{"LE-27 removed and assigned in a script", "sh|-c|exec env -u ETCD_NAME ETCD_NAME=a etcd", "a"},
		{"LE-28 cleared among letters in a script", "sh|-c|exec env -vi etcd", ""},
		{"LE-29 sudo in a script", "sh|-c|exec sudo -u etcd etcd", "?"},
		{"LE-30 sudo in a script, and the flag", "sh|-c|exec sudo -u etcd etcd --name a", "a"},
		{"LE-31 a value like an assignment in a script", "sh|-c|exec env -C ETCD_NAME=b etcd", "outer"},
		{"LE-32 an option of etcd like one of env", "sh|-c|exec etcd -i", "outer"},
		{"LE-33 a login in a script", "sh|-c|exec su - etcd -c 'exec etcd'", "?"},
		{"LE-34 a login in a script, and the flag", "sh|-c|exec su - etcd -c 'exec etcd --name a'", "a"},
		{"LE-35 no login in a script", "sh|-c|exec su etcd -c 'exec etcd'", "outer"},
		{"LE-36 removed before a shell in a script", "sh|-c|exec env -u ETCD_NAME sh -c 'exec etcd'", "?"},
	} {
		c := &corev1.Container{Command: strings.Split(row.command, "|"), Env: []corev1.EnvVar{{Name: "ETCD_NAME", Value: "outer"}}}
		s, err := settingsOf(newEnvironment(&corev1.Pod{}, c, nil), false)
		if err != nil {
			t.Errorf("%s: %v", row.id, err)
			continue
		}
		got, _, _, err := s.get("name")
		if err != nil || unresolved(got) {
			got = "?"
		}
		if got != row.want {
			t.Errorf("%s: name %q, want %q", row.id, got, row.want)
		}
	}
}

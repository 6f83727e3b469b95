// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"strings"
	"testing"
)

// TestLauncherForms has commands of which the manuals are not a list of options, and others that run no etcd. Arguments are separated by |.
func TestLauncherForms(t *testing.T) {
	t.Parallel()
	const perhaps = "?"
	for command, want := range map[string]string{
		"nice|--adj=5|etcd|-a":                      "etcd -a", // a name may be cut
		"setpriv|--re|1|etcd":                       perhaps,   // several begin so
		"timeout|-t|5|etcd":                         perhaps,   // busybox before 1.30
		"timeout|etcd|-a":                           perhaps,
		"chrt|-o|etcd":                              perhaps, // no priority
		"taskset|etcd|-a":                           perhaps,
		"prlimit|-n|65536|etcd":                     "65536",
		"ionice|-c|2|app|etcd":                      "app",
		"setarch|-R|etcd|-a":                        "etcd -a",
		"nice|timeout|-k|1|9|env|A=1|gosu|b|etcd":   "etcd",
		"nice|timeout|--such|9|env|gosu|b|etcd":     perhaps,
		"nice|--such|etcdctl|member|list":           "nice",
		"su|etcd|-c|exec etcd -a":                   "etcd -a",
		"su|-c|exec etcd -a|etcd":                   "etcd -a",
		"su|-mp|-s/bin/sh|etcd|-cexec etcd -a":      "etcd -a",
		"su|--command=exec etcd -a|--shell=/bin/sh": "etcd -a",
		"su|-|etcd|-c|exec etcd -a":                 "etcd -a",
		"su|-l|etcd|--session-command|etcd -a":      "etcd -a",
		"su|etcd|-c|exec etcd --x=\"$1\"|sh|a":      "etcd --x=a",
		"su|-s|/sbin/nologin|etcd|-c|etcd":          perhaps,
		"su|--such|etcd|-c|etcd":                    perhaps,
		"su|etcd":                                   perhaps,
		"su|app|-c|exec server":                     "sh",
		"su|-V|-c|etcd":                             perhaps,
		"su|root|/start|etcd":                       perhaps,
		"runuser|-u|etcd|--|etcd|-a":                "etcd -a",
		"runuser|--user=etcd|etcd":                  "etcd",
		"runuser|-u|etcd|etcd|-a":                   perhaps, // -a is its own option
		"runuser|etcd|-c|etcd -a":                   "etcd -a",
		"runuser|-l|etcd|-c|etcd -a":                "etcd -a",
		"runuser|-u|b|-c|etcd":                      perhaps, // it refuses both
		"runuser|etcd|etcd":                         perhaps,
		"flock|-n|/lock|-c|exec etcd -a":            "etcd -a",
		"flock|/lock|--command|exec etcd -a":        "etcd -a",
		"flock|/lock|-c|etcd|-a":                    "-c",
		"flock|--such|/lock|-c|etcd":                perhaps,
		"xargs|etcd|-a":                             perhaps,
		"xargs|-0|-n|1|etcd":                        perhaps,
		"xargs|etcdctl|get":                         "xargs",
		"busybox|nice|-n5|etcd|-a":                  "etcd -a",
		"busybox|sh|-c|exec etcd -a":                "etcd -a",
		"busybox|etcd":                              perhaps, // it has no such applet
		"busybox|--install|etcd":                    perhaps,
		"busybox|sleep|9":                           "sleep",
		"sudo|-u|etcd|-s|etcd|-a":                   "etcd -a",
		"sudo|-h|etcd":                              perhaps, // its help, or a host
		"env|-iS|nice -n 5 etcd -a":                 "etcd -a",
		"env|-S|sh -c 'exec etcd -a'":               "etcd -a",
		"env|--such|-S|etcd -a":                     perhaps,
		"env|A=1|sh|-c|exec etcd -a":                "etcd -a",
		"env|A=1|-i|etcd":                           "-i", // the options end at the first operand
		"nice|A=1|etcd":                             "A=1",
		"exec|-a|db|etcd|-a":                        "etcd -a",
		"exec|-cl|etcd|-a":                          "etcd -a",
		"exec|-x|etcd":                              perhaps,
		"command|-p|etcd|-a":                        "etcd -a",
		"command|-V|etcd":                           "command",
		"builtin|exec|etcd|-a":                      "etcd -a",
		"builtin|etcd":                              perhaps,
		"gosu|--version|etcd":                       perhaps,
		"sh|-o|errexit|-c|exec etcd -a":             "etcd -a",
	} {
		started := Start(strings.Split(command, "|"), nil, Surroundings{})
		got := started.Program
		switch {
		case started.Perhaps:
			got = perhaps
		case started.Script != nil:
			got = strings.Join(append([]string{got}, started.Way(nothing, "").Args...), " ")
		case got == "etcd":
			got = strings.Join(append([]string{got}, started.Args...), " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func nothing(string) (string, bool, error) { return "", false, nil }

// TestFileOf has the file that a command runs, empty where the command itself has the script.
func TestFileOf(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"nice|-n|5|/stop.sh": "/stop.sh", "sh|/stop.sh|-c": "/stop.sh", "sh|-c|/stop.sh": "", "su|etcd|-c|/stop.sh": "", "flock|/lock|-c|/stop.sh": "",
		"su|-|etcd|-c|/stop.sh": "", "env|-S|sh /stop.sh": "/stop.sh", "sleep|9": "", "nice|--such|/stop.sh": "nice", "runuser|-u|a|--|/stop.sh": "/stop.sh",
	} {
		if got := FileOf(strings.Split(command, "|")); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

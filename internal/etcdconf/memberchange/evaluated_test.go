// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestCommandsInVariables has scripts that execute the text of a variable: of a known value, and of one that is only
// known in the pod. Lines are separated by ¦.
func TestCommandsInVariables(t *testing.T) {
	t.Parallel()
	const unknown = "?"
	for _, row := range []struct{ id, script, want string }{
		{"CV-1 eval", `A='etcdctl member remove x'; eval "$A"`, "remove"},
		{"CV-2 eval of several", `A='etcdctl member'; B='remove x'; eval "$A" $B`, "remove"},
		{"CV-3 a shell", `A='etcdctl member remove x'; bash -c "$A"`, "remove"},
		{"CV-4 without a quote", `A='etcdctl member remove x'; $A`, "remove"},
		{"CV-5 a trap", `A='etcdctl member remove x'; trap "$A" EXIT`, "remove"},
		{"CV-6 assigned on one way", `if x; then A='etcdctl member remove x'; else A=true; fi; eval "$A"`, "remove"},
		{"CV-7 of a function", `f() { local A='etcdctl member remove x'; eval "$A"; }; f`, "remove"},
		{"CV-8 of the container", `eval "$PLAIN"; $PLAIN`, "remove"},
		{"CV-9 of the container, with a variable", `sh -c "$WITH"`, "remove"},
		{"CV-10 added to", `A=etcdctl; A+=' member'; A="$A remove x"; $A`, "remove"},
		{"CV-11 a default, of a variable that isn't known", `${HOOK:-etcdctl member remove x}`, "? remove"},
		{"CV-12 an alternative", `eval "${HOOK:+etcdctl member remove x}"`, "remove"},
		{"CV-13 a loop", `for A in 'etcdctl member remove x' true; do eval "$A"; done`, "remove"},
		{"CV-14 what echo prints", `A=$(echo etcdctl member remove x); $A`, "remove"},
		{"CV-15 a verb of several", `if x; then V=remove; else V=add; fi; etcdctl member $V x`, "remove add"},
		{"CV-16 a parameter", `f() { etcdctl member "$1" x; }; f remove`, "remove"},
		{"CV-17 the script's parameters", `set -- etcdctl member remove x; "$@"`, "remove"},
		{"CV-18 an array", `A=(etcdctl member remove x); "${A[@]}"`, "remove"},
		{"CV-19 printf -v", `printf -v A '%s' 'etcdctl member remove x'; $A`, "remove"},
		{"CV-20 an alias", `alias m='etcdctl member'¦m remove x`, "remove"},
		{"CV-21 in a pipe", `A='etcdctl member remove x'; echo "$A" | sh`, "remove"},
		{"CV-22 a here-string", `A='etcdctl member remove x'; sh <<< "$A"`, "remove"},
		{"CV-23 by the environment", `env A='etcdctl member remove x' sh -c 'eval "$A"'`, "remove"},
		{"CV-24 exported as a text", `export "A=etcdctl member remove x"; $A`, "remove"},
		{"CV-25 a removal of data", `A="rm -rf $ETCD_DATA_DIR"; eval "$A"`, "wipe"},
		{"CV-26 a removal of data, without a quote", `if x; then A="rm -rf $ETCD_DATA_DIR"; fi; $A`, "wipe"},
		{"CV-27 in eval", `eval "A='etcdctl member remove x'"; $A`, "remove"},

		{"CV-40 a file", `eval "$(cat /x)"`, unknown},
		{"CV-41 a variable that isn't known", `eval "$HOOK"`, unknown},
		{"CV-42 a shell", `sh -c "$HOOK"`, unknown},
		{"CV-43 a trap", `trap "$HOOK" TERM`, unknown},
		{"CV-44 a command", `$HOOK`, unknown},
		{"CV-45 the value of a file", `A=$(cat /x); $A`, unknown},
		{"CV-46 read", `read -r A < /x; eval "$A"`, unknown},
		{"CV-47 a pipe to a shell", `cat /x | sh`, unknown},
		{"CV-48 a verb", `etcdctl member $VERB x`, unknown},
		{"CV-49 a reference to a variable that isn't known", `eval "$REFERS"`, unknown},
		{"CV-50 another user", `su etcd -c "$HOOK"`, unknown},

		{"CV-60 a program", `"$BIN" --name a; $BIN --name a`, ""},
		{"CV-61 the container's arguments", `exec "$@"`, ""},
		{"CV-62 a function's arguments", `run() { "$@"; eval "$1"; }; run etcd --name a`, ""},
		{"CV-63 a message", `A='etcdctl member remove x'; echo "$A" > /x`, ""},
		{"CV-64 a list", `A='etcdctl member list'; eval "$A"; $A`, ""},
		{"CV-65 arguments of etcd", `A="--name $N"; exec etcd $A $MORE`, ""},
		{"CV-66 a variable's name", `eval "V=\$$N"`, ""},
		{"CV-67 a number of lines", `wc -c "$FILE"; head -c $N /x`, ""},
	} {
		got := changesOf(strings.ReplaceAll(row.script, "¦", "\n"),
			corev1.EnvVar{Name: "PLAIN", Value: "etcdctl member remove x"}, corev1.EnvVar{Name: "WITH", Value: "etcdctl member remove $ID"},
			corev1.EnvVar{Name: "REFERS", Value: "$(OTHER) x"})
		var found []string
		for _, m := range got {
			switch {
			case m.Unread != "":
				found = append(found, unknown)
			case m.Verb == "":
				found = append(found, "wipe")
			default:
				found = append(found, m.Verb)
			}
		}
		if strings.Join(found, " ") != row.want {
			t.Errorf("%s: %q, want %q: %v", row.id, found, row.want, got)
		}
	}
}

// TestCommandsOfObjects holds that the text of a variable counts that envFrom reads from a ConfigMap.
func TestCommandsOfObjects(t *testing.T) {
	t.Parallel()
	contents := func(string, string) (map[string][]byte, error) {
		return map[string][]byte{"HOOK": []byte("etcdctl member remove $ID")}, nil
	}
	from := corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{}}
	for _, script := range []string{`eval "$HOOK"`, "$HOOK", `bash -c "$HOOK"`} {
		c := corev1.Container{Command: []string{"sh", "-c", script}, EnvFrom: []corev1.EnvFromSource{from}}
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
		if got := etcdconf.MemberChanges(pod, contents); len(got) != 1 || got[0].Verb != "remove" {
			t.Errorf("%s: %v, want a removal", script, got)
		}
		if got := etcdconf.MemberChanges(pod, nil); len(got) != 1 || got[0].Unread == "" {
			t.Errorf("%s: %v, want that it isn't known without the ConfigMap", script, got)
		}
	}
}

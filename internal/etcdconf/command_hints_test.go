// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestHintsOfCommands has commands of which only the pod knows what they execute.
func TestHintsOfCommands(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ argv, want string }{
		{"/entry etcd --name a", "the first argument of its command is etcd"},
		{"/entry /usr/bin/etcd", "the first argument of its command is /usr/bin/etcd"},
		{"/entry /var/lib/etcd", ""},
		{"cat etcd", ""},
		{"/entry app etcd", ""},
		{"/etc/init.d/etcd start", "its command is /etc/init.d/etcd, and it contains etcd or flags of a member"},
		{"etcd $(MODE)", "the first argument of etcd is $(MODE), which is only known in the pod"},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Command: strings.Fields(row.argv)}}}}
		hints := HintsOf(pod)
		if (len(hints) > 0) != (row.want != "") || row.want != "" && !slices.Contains(hints, Hint{Container: "c", Text: row.want}) {
			t.Errorf("%q: hints %q, want %q", row.argv, hints, row.want)
		}
	}
}

// TestPerhapsEtcd has commands and scripts that run etcd in a way which isn't followed to its end, with no image, port or
// variable that hints at it, and commands that only name etcd.
func TestPerhapsEtcd(t *testing.T) {
	t.Parallel()
	sh := func(script string) corev1.Container { return corev1.Container{Command: []string{"bash", "-c", script}} }
	argv := func(texts ...string) corev1.Container { return corev1.Container{Command: texts} }
	for _, row := range []struct {
		c    corev1.Container
		want Evidence
	}{
		{argv("/tini-static", "--", "etcd", "--name=a"), Shown},
		{argv("/sbin/docker-init", "--", "etcd"), Shown},
		{argv("chpst", "-u", "etcd", "/usr/bin/etcd", "--name=a"), Shown},
		{argv("envdir", "/env", "etcd", "--name=a"), Shown},
		{argv("sh", "-c", `exec "$0" "$@"`, "etcd", "--name", "a"), Shown},

		{argv("s6-softlimit", "-o", "9", "/usr/bin/etcd", "--name=a"), Hinted},
		{argv("/go-runner", "--log-file=/l", "--", "etcd"), Hinted},
		{argv("kube-log-runner", "-log-file=/l", "/usr/local/bin/etcd"), Hinted},
		{argv("dockerize", "-wait", "tcp://a:1", "etcd", "--name=a"), Hinted},
		{argv("capsh", "--drop=all", "--", "-c", "exec etcd --name a"), Hinted},
		{argv("python3", "-c", "import os; os.execvp('etcd', ['etcd'])"), Hinted},
		{sh(`cmd=(etcd --name a); exec "${cmd[@]}"`), Hinted},
		{sh(`exec $ETCD_HOME/bin/etcd --name a`), Hinted},
		{sh(`exec "${BIN_DIR:-/usr/local/bin}"/etcd`), Hinted},
		{sh(`exec $(which etcd) --name a`), Hinted},
		{sh("ETCD=$(command -v etcd)\nexec $ETCD"), Hinted},
		{sh("CMD='etcd --name a'\neval \"$CMD\""), Hinted},
		{sh(`strace -f etcd --name a`), Hinted},

		{sh(`echo $(which etcd); exec /app`), NoEvidence},
		{sh(`cp $DIR/etcd /shared; exec /app`), NoEvidence},
		{sh(`docker run --rm image -- etcd --name a`), NoEvidence},
		{sh(`ssh node etcd --name a`), NoEvidence},
		{sh(`kubectl exec etcd-0 -- etcd --name a`), NoEvidence},
		{sh(`wrap /usr/bin/etcd --version; exec /app`), NoEvidence},
		{argv("python3", "-c", "print('etcd')"), NoEvidence},
		{argv("/backup", "--namespace", "etcd", "--dir", "/var/lib/etcd"), NoEvidence},
	} {
		row.c.Name, row.c.Image = "main", "acme/kv:1"
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{row.c}}}
		if got := MemberOf(pod).Evidence; got != row.want || (len(HintsOf(pod)) > 0) != (row.want == Hinted) {
			t.Errorf("%q: %d and hints %q, want %d", row.c.Command, got, HintsOf(pod), row.want)
		}
	}
}

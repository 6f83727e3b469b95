// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestEvidence has members in many forms, and what looks like a member. A script is a text with
// several commands; its lines are separated by ¦.
func TestEvidence(t *testing.T) {
	t.Parallel()
	sh := func(script string) corev1.Container {
		return corev1.Container{Command: []string{"/bin/sh", "-c", strings.ReplaceAll(script, "¦", "\n")}}
	}
	argv := func(line string) corev1.Container { return corev1.Container{Command: strings.Fields(line)} }
	env := func(c corev1.Container, names ...string) corev1.Container {
		for _, n := range names {
			c.Env = append(c.Env, corev1.EnvVar{Name: n, Value: "x"})
		}
		return c
	}
	with := func(c corev1.Container, name, value string) corev1.Container {
		c.Env = append(c.Env, corev1.EnvVar{Name: "PASSWORD", Value: "secret"}, corev1.EnvVar{Name: name, Value: value})
		return c
	}
	for _, row := range []struct {
		name string
		c    corev1.Container
		want Evidence
	}{
		// Launchers with their options and operands.
		{"nice and ionice in a shell", sh("exec nice -n -19 ionice -c2 -n0 etcd --name a --data-dir /d"), Shown},
		{"nice and ionice, values apart", argv("nice -n 5 ionice -c 2 -n 0 etcd --name a"), Shown},
		{"tini with options", argv("/tini -s -- /usr/local/bin/etcd --data-dir=/d"), Shown},
		{"dumb-init", argv("dumb-init --rewrite 15:2 -- etcd"), Shown},
		{"gosu with a user called etcd", argv("gosu etcd etcd --name a"), Shown},
		{"gosu with a user called etcd and another program", argv("gosu etcd backup --name a"), NoEvidence},
		{"su-exec", sh("exec su-exec 1000:1000 etcd"), Shown},
		{"setpriv", argv("setpriv --reuid 1000 --regid=1000 --clear-groups etcd"), Shown},
		{"timeout", argv("timeout -k 5 3600 etcd"), Shown},
		{"timeout of another program", argv("timeout 5 etcdctl endpoint health"), NoEvidence},
		{"chroot", argv("chroot --userspec=etcd /host etcd"), Shown},
		{"numactl", argv("numactl --cpunodebind 0 -m 0 etcd"), Shown},
		{"stdbuf", argv("stdbuf -oL etcd"), Shown},
		{"env", argv("env -u HOME GOMAXPROCS=2 etcd"), Shown},
		{"env with a text", argv("env -S etcd"), Shown},
		{"env with a text of several fields", corev1.Container{Command: []string{"env", "-S", "A=1 nice -n 5 etcd --name a"}}, Shown},
		{"env with a text in one word", corev1.Container{Command: []string{"/usr/bin/env", "-iS etcd --name 'a b'"}}, Shown},
		{"env with a long option", corev1.Container{Command: []string{"env", "--split-string=etcd --name a", "--data-dir=/d"}}, Shown},
		{"env with a text in a script", sh(`exec env -S "etcd --name a"`), Shown},
		{"env with a text of another program", corev1.Container{Command: []string{"env", "-S", "/app etcd"}}, NoEvidence},
		{"env with a text that it expands", corev1.Container{Command: []string{"env", "-S", "${BIN} etcd"}}, NoEvidence},
		{"chroot, values apart", argv("chroot --userspec root:root --groups a / etcd"), Shown},
		{"chrt with a deadline", argv("chrt -d -T 1 -P 2 0 etcd"), Shown},
		{"an option that gosu doesn't have", argv("gosu --such 5 etcd --name a"), Hinted},
		{"an option that nice doesn't have, and another program", argv("nice --such 5 backup"), NoEvidence},
		{"an option that nice doesn't have, in a script", sh("exec nice --such 5 etcd --name a"), Hinted},
		{"an option that is not known, and a member's variables", env(argv("nice --such etcd"), "ETCD_NAME", "ETCD_LISTEN_PEER_URLS"), Hinted},
		{"a launcher that runs nothing, and a member's variables", env(argv("ionice -p 5"), "ETCD_NAME", "ETCD_LISTEN_PEER_URLS"), Hinted},
		{"sudo", argv("sudo -nu etcd -- etcd --name a"), Shown},
		{"sudo in a script", sh("exec sudo -E -u etcd etcd --name a"), Shown},
		{"su with a script", corev1.Container{Command: []string{"su", "-s", "/bin/sh", "etcd", "-c", "exec etcd --name a"}}, Shown},
		{"su with a login", corev1.Container{Command: []string{"su", "-", "etcd", "-c", "exec etcd --name a"}}, Shown},
		{"su in a script", sh("exec su etcd -c 'exec etcd --name a'"), Shown},
		{"su with a login in a script", sh("exec su - etcd -c 'exec etcd --name a'"), Shown},
		{"su of another program", sh("exec su etcd -c 'exec backup /var/lib/etcd'"), NoEvidence},
		{"a shell with another environment in a script", sh("exec env -i sh -c 'exec etcd --name a'"), Shown},
		{"a lock", sh("exec flock -n /lock etcd --name a"), Shown},
		{"xargs", sh("cat /flags | xargs etcd"), Hinted},
		{"busybox", argv("busybox timeout 9 etcd"), Shown},
		{"a variable that a launcher removes", with(corev1.Container{Command: []string{"env", "-u", "BIN", "sh", "-c", "exec $BIN --name a"}}, "BIN", "etcd"), NoEvidence},
		{"a variable that a launcher sets", corev1.Container{Command: []string{"env", "BIN=etcd", "sh", "-c", "exec $BIN --name a"}}, Shown},
		{"nohup", sh("nohup etcd &¦wait"), Shown},

		// Text and variables.
		{"a quoted path", sh(`exec "/usr/local/bin/etcd" --data-dir /d`), Shown},
		{"a variable of the script", sh("BIN=/usr/local/bin/etcd¦exec $BIN --name a"), Shown},
		{"a quoted variable of the script", sh(`BIN=/usr/local/bin/etcd¦exec "${BIN}" --name a`), Shown},
		{"a variable with two values", sh("BIN=/usr/bin/etcd¦[ -n \"$X\" ] && BIN=/bin/app¦exec $BIN"), Hinted},
		{"a variable with two values, neither of them etcd", sh("BIN=/usr/bin/db¦[ -n \"$X\" ] && BIN=/bin/app¦exec $BIN"), NoEvidence},
		{"a variable with a default", sh(`exec "${BIN:-/usr/bin/etcd}" --name a`), Hinted},
		{"a variable with another default", sh(`exec "${BIN:-/app}" /var/lib/etcd`), NoEvidence},
		{"a variable that a command decides", sh("BIN=etcd¦test -x /app && BIN=$(which app)¦$BIN --name a"), Hinted},
		{"a variable of the container that the script may change", with(sh("[ -n \"$X\" ] && BIN=/app¦exec $BIN"), "BIN", "/usr/bin/etcd"), Hinted},
		{"an argument that the script may change", sh("[ -n \"$X\" ] && set -- etcd --name a¦exec \"$@\""), Hinted},
		{"the arguments of a function", sh("run() { \"$@\"; }¦run etcd --name a"), Hinted},
		{"the arguments of a function that are another program's", sh("run() { \"$@\"; }¦run etcdctl get a¦exec /app"), NoEvidence},
		{"a program with a member's flags", sh("exec \"$BIN\" --listen-peer-urls=http://0.0.0.0:2380"), Hinted},
		{"a tool that isn't known with etcd's folder", sh("$CHOWN /var/lib/etcd¦exec /app"), NoEvidence},
		{"a value that only mentions etcd", sh("BIN='tar /var/lib/etcd'¦[ $X ] && BIN=ls¦$BIN"), NoEvidence},
		{"a variable that gets more", sh("B=etcd¦B+=etcd¦exec $B --name a"), Hinted},
		{"an array", sh("B=(echo)¦exec $B etcd --name a"), Hinted},
		{"a variable of the container", with(sh(`exec "$ETCD_BIN" --name a`), "ETCD_BIN", "/usr/local/bin/etcd"), Shown},
		{"a variable of the container as an argument", with(argv("$(ETCD_BIN) --name a"), "ETCD_BIN", "/usr/local/bin/etcd"), Shown},
		{"a variable of the container that is another program", with(sh(`exec "$ETCD_BIN"`), "ETCD_BIN", "/usr/bin/etcdctl"), NoEvidence},
		{"a variable of the container beside a secret", with(sh("exec $ETCD_BIN --password=$PASSWORD"), "ETCD_BIN", "etcd"), Shown},
		{"a script in a variable", with(argv("sh -c $(SCRIPT)"), "SCRIPT", "exec etcd --name a"), Shown},
		{"a launcher in a variable", with(sh("exec $INIT etcd"), "INIT", "tini"), Shown},
		{"an empty variable", with(argv("sh -c $(NONE)"), "NONE", ""), NoEvidence},
		{"a script file in a variable, and a member's variables", env(with(argv("$(START)"), "START", "/start.sh"), "ETCD_NAME", "ETCD_LISTEN_PEER_URLS"), Shown},
		{"etcd by a variable and another program after it", with(sh(`if [ "$ROLE" = store ]; then exec $ETCD_BIN; fi¦exec /app`), "ETCD_BIN", "etcd"), Hinted},
		{"a variable of a Secret", corev1.Container{Command: []string{"sh", "-c", "exec $BIN etcd"}, Env: []corev1.EnvVar{{Name: "BIN", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{Key: "bin"},
		}}}}, Hinted},
		{"a variable that is not known", sh("exec $BIN --etcd"), NoEvidence},
		{"a comment", sh("# wait for the store; etcd must be up first¦exec /app"), NoEvidence},
		{"a word of a message", sh("echo start etcd¦exec /app"), NoEvidence},
		{"a text", sh("cat <<E¦etcd --name a¦E¦exec /app"), NoEvidence},
		{"a label of a case", sh(`case "$C" in etcd) etcdctl snapshot save /b ;; pg) pg_dump ;; esac`), NoEvidence},
		{"a wait loop", sh("until etcdctl endpoint health; do sleep 1; done¦exec etcd-backup"), NoEvidence},
		{"a substitution", sh("V=$(etcd --version)¦exec /app"), NoEvidence},
		{"a function that is not called", sh("run() { exec etcd; }¦exec /app"), Hinted},

		// A shell splits a variable where it isn't quoted.
		{"the last word of a variable", sh(`B="tar czf /b.tgz /var/lib/etcd"¦while true; do $B; sleep 3600; done`), NoEvidence},
		{"the last word of the container's", with(sh("while true; do $B; sleep 3600; done"), "B", "tar czf /b.tgz /var/lib/etcd"), NoEvidence},
		{"the last word of an argument", with(argv("$(B)"), "B", "/bin/tar czf /b.tgz /var/lib/etc"), NoEvidence},
		{"a launcher with options in a variable", sh(`N="nice -n 10"¦exec $N etcd`), Shown},
		{"a launcher with options in the container's", with(sh("exec $N etcd --name a"), "N", "nice -n 10"), Shown},
		{"etcd with options in a variable", sh(`E="/usr/bin/etcd --name a"¦exec $E --data-dir /d`), Shown},
		{"a quoted variable of several fields", sh(`N="nice etcd"¦exec "$N"`), NoEvidence},
		{"a quoted variable as a part", sh(`N="nice "¦exec "${N}etcd"`), NoEvidence},
		{"an empty variable before it", sh(`DEBUG=¦exec $DEBUG etcd`), Shown},
		{"a quoted empty variable before it", sh(`DEBUG=¦exec "$DEBUG" etcd`), NoEvidence},
		{"a folder in a variable", sh("BIN=/usr/local/bin¦exec $BIN/etcd"), Shown},
		{"a script that splits elsewhere", sh(`IFS=,¦N="nice -n 10"¦exec $N etcd`), Hinted},

		// What only asks for etcd.
		{"its version", argv("etcd --version"), NoEvidence},
		{"its flags", argv("etcd -h"), NoEvidence},
		{"its version, and a member's variables", env(argv("etcd --version"), "ETCD_NAME", "ETCD_DATA_DIR"), NoEvidence},
		{"its version, and a backup", sh("etcd --version; while true; do etcdctl snapshot save /b; sleep 60; done"), NoEvidence},
		{"its flags, and a backup", sh("etcd --help; etcd -h¦while true; do etcdctl snapshot save /b; sleep 60; done"), NoEvidence},
		{"whether it is there, and a backup", sh("command -v etcd || exit 1¦which etcd¦type etcd¦while true; do etcdctl snapshot save /b; sleep 60; done"), NoEvidence},
		{"where it is", sh("command -pv etcd"), NoEvidence},
		{"its version, and then it", sh("etcd --version; exec etcd --name a"), Shown},
		{"whether it is there, and then it", sh("command -v etcd >/dev/null || exit 1¦exec etcd --name a"), Shown},
		{"where it is, instead of the shell", sh("exec command -v etcd¦etcd --name a"), Hinted},
		{"its version at the end", sh("exec etcd --version"), NoEvidence},
		{"it with a flag that is off", argv("etcd --version=false --name a"), Shown},

		// Ways.
		{"a condition before it", sh("if [ -n \"$X\" ]; then rm -rf /d; fi¦exec etcd"), Shown},
		{"both branches", sh("if [ -d /d/member ]; then exec etcd --a; else exec etcd --b; fi"), Shown},
		{"one branch, and it after it", sh("if [ -d /d/member ]; then exec etcd --a; fi¦exec etcd --b"), Shown},
		{"a branch that fails", sh("if [ -z \"$X\" ]; then echo no; exit 1; fi¦exec etcd"), Shown},
		{"a list", sh("mkdir -p /d && exec etcd"), Shown},
		{"a condition that is etcd", sh("if ! etcd; then echo it ended; fi"), Shown},
		{"a pipe", sh("etcd 2>&1 | tee /log"), Shown},
		{"a function that is called", sh("run() { exec etcd \"$@\"; }¦run --name a"), Shown},
		{"functions that call each other", sh("a() { b; }¦b() { a; }¦a¦exec etcd"), Shown},
		{"in the background", sh("etcd --name a &¦P=$!¦trap 'kill $P' TERM¦wait $P"), Shown},
		{"a loop that restarts it", sh("while true; do etcd; sleep 1; done"), Shown},
		{"it, and a member that is added before", sh("if [ ! -d /d ]; then etcdctl member add $N; fi¦exec etcd"), Shown},
		{"a case of it and of another program", sh(`case "$1" in etcd) exec etcd ;; *) exec "$@" ;; esac`), Hinted},
		{"a case of it and of a last program", sh(`case "$1" in etcd) etcd ;; pg) postgres ;; esac`), Hinted},
		{"another program after it", sh(`if [ "$ROLE" = store ]; then exec etcd; fi¦exec /app`), Hinted},
		{"another program where it isn't", sh(`[ "$ROLE" = store ] && exec etcd¦/app --serve`), Hinted},
		{"an or", sh("exec etcd --a || exec etcd --b"), Shown},

		{"behind a loop that only an unknown command leaves", sh("while true; do $CHECK; sleep 1; done¦exec etcd"), Hinted},
		{"behind a loop that a command leaves", sh("while true; do $CHECK && break; sleep 1; done¦exec etcd"), Shown},
		{"behind an end that only an unknown command avoids", sh("for i in 1 2; do $CHECK; exit; done¦exec etcd"), Hinted},
		{"in a loop beside an unknown command", sh("for i in 1 2; do $CHECK; etcd; done"), Shown},
		{"behind a loop of an unknown command", sh("for i in 1 2; do $CHECK $i; done¦exec etcd"), Shown},

		// Variables.
		{"several, and the image decides", env(corev1.Container{}, "ETCD_NAME", "ETCD_DATA_DIR"), Hinted},
		{"several of a server, and the image decides", env(corev1.Container{}, "ETCD_NAME", "ETCD_LISTEN_CLIENT_URLS"), Shown},
		{"several of a server, and arguments of the image", env(corev1.Container{Args: []string{"--data-dir=/d"}}, "ETCD_INITIAL_ADVERTISE_PEER_URLS", "ETCD_NAME"), Shown},
		{"a configuration file, and the image decides", env(corev1.Container{}, "ETCD_CONFIG_FILE", "ETCD_DATA_DIR"), Shown},
		{"several, and arguments of the image", env(corev1.Container{Args: []string{"--bucket=b"}}, "ETCD_NAME", "ETCD_DATA_DIR"), Hinted},
		{"Bitnami's, and no listener", env(corev1.Container{}, "ALLOW_NONE_AUTHENTICATION", "ETCD_ADVERTISE_CLIENT_URLS"), Shown},
		{"a backup's image", env(corev1.Container{Image: "acme/etcd-backup:1"}, "ETCD_NAME", "ETCD_LISTEN_CLIENT_URLS"), Hinted},
		{"an exporter's image", env(corev1.Container{Image: "acme/etcd-exporter"}, "ETCD_CONFIG_FILE", "ETCD_DATA_DIR"), Hinted},
		{"one", env(corev1.Container{}, "ETCD_DATA_DIR"), Hinted},
		{"several, and another program", env(argv("sleep infinity"), "ETCD_NAME", "ETCD_DATA_DIR"), Hinted},
		{"several, and a backup", env(sh("while true; do etcdctl snapshot save /b; sleep 60; done"), "ETCD_LISTEN_PEER_URLS", "ETCD_DATA_DIR"), Hinted},
		{"several, and etcdctl", env(argv("etcdctl get a"), "ETCD_NAME", "ETCD_DATA_DIR"), NoEvidence},
		{"a client's", env(corev1.Container{}, "ETCD_ENDPOINTS", "ETCD_NAME"), NoEvidence},
	} {
		spec := &corev1.PodSpec{Containers: []corev1.Container{{Command: []string{"pause"}}, row.c}}
		if got := evidenceIn(&corev1.Pod{Spec: *spec}, nil); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
		if got := RunsEtcd(&corev1.Pod{Spec: *spec}); got != (row.want == Shown) {
			t.Errorf("%s: RunsEtcd is %t", row.name, got)
		}
		checkReduced(t, row.name, &corev1.Pod{Spec: *spec})
	}
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/memberchange"
)

// TestMemberChanges has scripts that change members, and similar commands. Lines are separated by ¦.
func TestMemberChanges(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ id, script, want string }{
		{"MC-1 add", "etcdctl member add $N --peer-urls=x¦exec etcd", "add"},
		{"MC-2 remove in a condition", "if x; then etcdctl --endpoints $E member remove $ID; fi¦exec etcd", "remove"},
		{"MC-3 update and its flags apart", "etcdctl --endpoints=x member --dial-timeout=1s update a¦exec etcd", "update"},
		{"MC-4 promote in a substitution", "X=$(etcdctl member promote $ID)¦exec etcd", "promote"},
		{"MC-5 in a function", "join() { etcdctl member add a; }¦join¦exec etcd", "add"},
		{"MC-6 by a function of its own", `ctl() { etcdctl --cacert=x "$@"; }¦ctl member add a¦exec etcd`, "add"},
		{"MC-7 behind launchers", "timeout 5 env ETCDCTL_API=3 /usr/bin/etcdctl member remove a¦exec etcd", "remove"},
		{"MC-8 by a variable", "$CTL member remove a¦exec etcd", "remove"},
		{"MC-9 in a pipe and a list", "true && etcdctl member add a | tee /x¦exec etcd", "add"},
		{"MC-10 eval", "eval 'etcdctl member add a'¦exec etcd", "add"},
		{"MC-11 a shell in the script", "sh -c 'etcdctl member add a'¦exec etcd", "add"},
		{"MC-12 several", "etcdctl member remove a¦etcdctl member add b¦etcdctl member add c¦exec etcd", "remove add"},
		{"MC-13 a script with a mistake", "etcdctl member add a¦if", "add? add"},
		{"MC-14 the variable of the data", `rm -rf "$ETCD_DATA_DIR"/*¦exec etcd`, "wipe"},
		{"MC-15 the variable, with braces", "rm -fr ${ETCD_DATA_DIR:-/d}¦exec etcd", "wipe"},
		{"MC-16 the folder", "rm -r /var/lib/etcd/member¦exec etcd --data-dir /var/lib/etcd", "wipe"},
		{"MC-17 the folder above it", "rm -rf /var/lib/*¦exec etcd --data-dir=/var/lib/etcd/${HOSTNAME}.etcd", "wipe"},
		{"MC-18 find", "find /var/lib/etcd -mindepth 1 -delete¦exec etcd --data-dir /var/lib/etcd", "wipe"},
		{"MC-19 a constant of several fields", `ETCDCTL="etcdctl --cacert=/c"¦$ETCDCTL member remove $ID¦exec etcd`, "remove"},

		{"MC-20 list", "until etcdctl member list; do sleep 1; done¦exec etcd", ""},
		{"MC-21 health", "etcdctl endpoint health¦exec etcd", ""},
		{"MC-22 a message", "echo etcdctl member remove a¦exec etcd", ""},
		{"MC-23 a comment", "# etcdctl member remove a¦exec etcd", ""},
		{"MC-24 a text", "cat <<E¦etcdctl member remove a¦E¦exec etcd", ""},
		{"MC-25 a member called add", "etcdctl get member-add¦exec etcd", ""},
		{"MC-26 of another program", "vault member add a¦exec etcd", ""},
		{"MC-27 lost+found", "rm -rf /var/lib/etcd/lost+found $ETCD_DATA_DIR/lost+found¦exec etcd --data-dir /var/lib/etcd", ""},
		{"MC-28 another folder", "rm -rf /tmp/x /var/lib/etcd-old¦exec etcd --data-dir /var/lib/etcd", ""},
		{"MC-29 a file", "rm -f /var/lib/etcd/member/x.tmp¦exec etcd --data-dir /var/lib/etcd", ""},

		{"MC-30 xargs", "etcdctl member list | cut -d, -f1 | xargs -n1 etcdctl member remove¦exec etcd", "remove"},
		{"MC-31 xargs of a program that isn't known", `CTL="etcdctl --endpoints=$E"¦echo $ID | xargs $CTL member remove¦exec etcd`, "remove"},
		{"MC-32 trap", "trap 'etcdctl member remove $ID' TERM¦etcd & wait", "remove"},
		{"MC-33 trap of a function", "leave() { etcdctl member remove $ID; }¦trap leave TERM¦etcd & wait", "remove"},
		{"MC-34 eval with what isn't known", `eval "etcdctl member remove $ID"¦exec etcd`, "remove"},
		{"MC-35 a shell with what isn't known", `sh -c "etcdctl member remove $ID"¦exec etcd`, "remove"},
		{"MC-36 another user", `su -s /bin/sh -c "etcdctl member promote $ID" etcd¦exec etcd`, "promote"},
		{"MC-37 another user, as a value", `su --command="etcdctl member promote $ID" etcd¦exec etcd`, "promote"},
		{"MC-38 sudo", "sudo -u etcd etcdctl member update $ID¦exec etcd", "update"},
		{"MC-39 env -S", `env -S "A=1 etcdctl member remove $ID"¦exec etcd`, "remove"},
		{"MC-40 find", `find /ids -type f -exec etcdctl member remove {} \;¦exec etcd`, "remove"},
		{"MC-41 a shell of find", `find /ids -exec sh -c 'etcdctl member remove "$1"' _ {} \;¦exec etcd`, "remove"},
		{"MC-42 another host", `ssh $HOST "etcdctl member remove $ID"¦exec etcd`, "remove"},
		{"MC-43 a program that retries", "retry 5 etcdctl member add $N¦exec etcd", "add"},
		{"MC-44 a here-document of a shell", "sh <<E¦etcdctl member add a¦E¦exec etcd", "add"},
		{"MC-45 a pipe to a shell", `echo "etcdctl member add a" | sh¦exec etcd`, "add"},
		{"MC-46 a function that evaluates", `run() { eval "$1"; }¦run "etcdctl member add $N"¦exec etcd`, "add"},
		{"MC-47 a verb in a constant", "V=remove¦etcdctl member $V a¦exec etcd", "remove"},
		{"MC-48 a path in a constant", `BIN=/usr/bin¦"$BIN/etcdctl" member remove a¦exec etcd`, "remove"},
		{"MC-49 a script with a script with a mistake", `eval "etcdctl member add a; if $X"¦exec etcd`, "add? add"},
		{"MC-50 a constant in a trap", "V=remove¦trap 'etcdctl member $V a' EXIT¦etcd", "remove"},
		{"MC-57 a here-document in a pipe to a shell", "cat <<E | tee /x | sh¦etcdctl member remove $ID¦E¦exec etcd", "remove"},
		{"MC-58 a text in a pipe to a shell", `cat <<< "etcdctl member remove $ID" | sh¦exec etcd`, "remove"},
		{"MC-59 a here-document in a pipe to xargs", "cat <<E | xargs etcdctl¦member remove 1¦E¦exec etcd", "remove"},

		{"MC-51 a message", `echo "run etcdctl member remove $ID" >&2¦exec etcd`, ""},
		{"MC-52 a message by a function", `log() { echo "$(date) $*"; }¦log "etcdctl member remove $ID failed"¦exec etcd`, ""},
		{"MC-53 what is searched for", `ps | grep "etcdctl member add"¦pgrep -f "etcdctl member add"¦exec etcd`, ""},
		{"MC-54 whether there is one", "command -v etcdctl member add¦exec etcd", ""},
		{"MC-55 xargs of another program", "echo a | xargs vault member add¦exec etcd", ""},
		{"MC-56 a list in a trap", "trap 'etcdctl member list' TERM¦etcd & wait", ""},

		{"MC-60 a variable of the script", `DIR=/var/lib/etcd¦rm -rf "$DIR/member"¦exec etcd --data-dir=$DIR`, "wipe"},
		{"MC-61 a variable in lower case", `rm -rf "$data_dir"/*¦exec etcd`, "wipe"},
		{"MC-62 rm of find", "find /var/lib/etcd -mindepth 1 -exec rm -rf {} +¦exec etcd --data-dir /var/lib/etcd", "wipe"},
		{"MC-63 rm of a shell of find", `find /var/lib/etcd -mindepth 1 -exec sh -c 'rm -rf "$1"' _ {} \;¦exec etcd --data-dir /var/lib/etcd`, "wipe"},
		{"MC-64 all but one file", `find $DATA_DIR -mindepth 1 ! -name lost+found -delete¦exec etcd`, "wipe"},
		{"MC-65 find and xargs", "find /var/lib/etcd -mindepth 1 -print0 | xargs -0 rm -rf¦exec etcd --data-dir /var/lib/etcd", "wipe"},
		{"MC-66 moved away", "mv $DATA/member /backup¦exec etcd", "wipe"},
		{"MC-67 inside", "cd $ETCD_DATA_DIR && rm -rf ./*¦exec etcd", "wipe"},
		{"MC-68 a loop", `for f in "$ETCD_DATA_DIR"/*; do rm -rf "$f"; done¦exec etcd`, "wipe"},
		{"MC-69 another variable", `D=${ETCD_DATA_DIR%/}¦rm -rf "$D"¦exec etcd`, "wipe"},
		{"MC-70 a function", `clean() { rm -rf "$1"; }¦clean "$ETCD_DATA_DIR/member"¦exec etcd`, "wipe"},
		{"MC-71 a trap", `trap 'rm -rf $ETCD_DATA_DIR/member' EXIT¦etcd`, "wipe"},
		{"MC-72 etcd's files", "rm -f $ETCD_DATA_DIR/member/wal/*¦exec etcd", "wipe"},
		{"MC-73 the folder of a member", `rm -rf "$1/member"¦exec etcd`, "wipe"},
		{"MC-74 the variable that the script sets", `export ETCD_DATA_DIR=/d¦rm -rf /d/member¦exec etcd`, "wipe"},
		{"MC-75 braces", `D=/var/lib/etcd¦rm -rf "$D"/{member,wal}¦exec etcd --data-dir=$D`, "wipe"},
		{"MC-76 braces in braces", `rm -rf "$ETCD_DATA_DIR"/{tmp,member/{snap,wal}}¦exec etcd`, "wipe"},
		{"MC-77 braces of folders", "rm -rf /var/lib/{x,etcd}¦exec etcd --data-dir=/var/lib/etcd", "wipe"},

		{"MC-88 braces without etcd's files", `rm -rf "$ETCD_DATA_DIR"/{tmp,snapshots}¦exec etcd`, ""},
		{"MC-89 a here-document that is printed", "cat <<E | tee /x¦etcdctl member remove $ID¦E¦exec etcd", ""},
		{"MC-80 its own lock", `rm -rf "$ETCD_DATA_DIR/start.lock" $ETCD_DATA_DIR/tmp/*¦exec etcd`, ""},
		{"MC-81 its own snapshots", `rm -rf $ETCD_DATA_DIR/snapshots/* $ETCD_DATA_DIR/backup.db¦exec etcd`, ""},
		{"MC-82 files that etcd left", `rm -rf $ETCD_DATA_DIR/member/snap/tmp* $ETCD_DATA_DIR/member/snap/*.broken¦exec etcd`, ""},
		{"MC-83 old files", `find $ETCD_DATA_DIR -name '*.tmp' -delete¦exec etcd`, ""},
		{"MC-84 moved into it", `mv /restored/member $RESTORED/member $ETCD_DATA_DIR¦exec etcd`, ""},
		{"MC-85 another constant", `DIR=/var/cache¦rm -rf "$DIR/x" /tmp/*¦exec etcd --data-dir /var/lib/etcd`, ""},
		{"MC-86 a message", `echo "rm -rf $ETCD_DATA_DIR"¦exec etcd`, ""},
		{"MC-87 a file with a name that isn't known", `rm -rf "$ETCD_DATA_DIR/$LOCK"¦exec etcd`, ""},

		{"MC-90 a request of the gateway", `curl -X POST -d '{"ID":"1"}' https://$E/v3/cluster/member/remove¦exec etcd`, "remove"},
		{"MC-91 a request of an older gateway", `curl -sf $URL/v3beta/cluster/member/add -d @/m¦exec etcd`, "add"},
		{"MC-92 a request of version 2", "curl -s -X DELETE http://$E:2379/v2/members/$ID¦exec etcd", "remove"},
		{"MC-93 a request of version 2, in one word", "curl -XPUT http://$E:2379/v2/members/1 -d x¦exec etcd", "update"},
		{"MC-94 a request with data", "curl http://e:2379/v2/members -d x¦exec etcd", "add"},
		{"MC-95 wget", "wget -O- --post-data='{}' http://e:2379/v3/cluster/member/promote¦exec etcd", "promote"},
		{"MC-96 wget with a method", "wget --method=DELETE http://e:2379/v2/members/1¦exec etcd", "remove"},
		{"MC-97 a method that only the pod knows", `curl -X "$M" http://e:2379/v2/members/1¦exec etcd`, "remove?"},
		{"MC-98 by xargs", "cat /ids | xargs -n1 curl -X DELETE http://e/v2/members/1¦exec etcd", "remove"},
		{"MC-99 by a function", `call() { curl --cacert /c "$@"; }¦call -X POST http://e/v3/cluster/member/remove¦exec etcd`, "remove"},
		{"MC-100 in a script with a mistake", "curl http://e/v3/cluster/member/remove¦if", "remove? remove"},
		{"MC-101 a request that reads", "curl -s http://e:2379/v2/members | jq .¦curl http://e/v3/cluster/member/list -d x¦exec etcd", ""},
		{"MC-102 a request for health", "curl -X POST http://e:2379/v3/maintenance/status¦exec etcd", ""},
		{"MC-103 a message", "echo curl -X DELETE http://e/v2/members/1¦exec etcd", ""},
		{"MC-104 keys of that name", "curl -X DELETE http://e/v2/keys/members/1¦exec etcd", ""},
		{"MC-105 env -S in quotes", `env -S "'etcdctl' member remove 1"¦exec etcd`, "remove"},
	} {
		script := strings.ReplaceAll(row.script, "¦", "\n")
		inline := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Command: []string{"sh", "-c", script}}}}}
		executed, contents := mountedScript("#!/bin/sh\n" + script)
		hook := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Command:   []string{"etcd", "--data-dir", "/var/lib/etcd"},
			Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-ec", script}}}},
		}}}}
		for name, got := range map[string][]etcdconf.MemberChange{
			"inline": etcdconf.MemberChanges(inline, nil), "mounted": etcdconf.MemberChanges(executed, contents), "hook": etcdconf.MemberChanges(hook, nil),
		} {
			var args []string
			for _, m := range got {
				word := m.Verb
				if m.Verb == "" {
					word = "wipe"
				}
				if m.Unclear {
					word += "?"
				}
				if (m.Hook == etcdconf.PreStop) != (name == "hook") {
					t.Errorf("%s, %s: hook %q", row.id, name, m.Hook)
				}
				args = append(args, word)
			}
			if strings.Join(args, " ") != row.want {
				t.Errorf("%s, %s: %q, want %q", row.id, name, args, row.want)
			}
		}
	}
	for _, argv := range [][]string{
		{"xargs", "-a", "/ids", "etcdctl", "member", "remove"}, {"su", "etcd", "-c", "etcdctl member remove $ID"},
		{"sh", "-c", `exec "$@"`, "--", "etcdctl", "member", "remove", "$(ID)"},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Command: argv}}}}
		if got := etcdconf.MemberChanges(pod, nil); len(got) != 1 || got[0].Verb != "remove" {
			t.Errorf("%q: %v", argv, got)
		}
	}
	direct := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Command: []string{"etcdctl", "member", "remove", "a"}}}}}
	if got := etcdconf.MemberChanges(direct, nil); len(got) != 1 || got[0].Where()+": "+got[0].Command() != "the start script of container a: etcdctl member remove" {
		t.Errorf("without a shell: %v", got)
	}
}

// TestManyFoldersOfData holds that of a pod which names more folders of data than are counted, any folder
// may be one.
func TestManyFoldersOfData(t *testing.T) {
	t.Parallel()
	for _, n := range []int{memberchange.MostDirs - 1, memberchange.MostDirs, 1000} {
		c := corev1.Container{Command: []string{"sh", "-c", "rm -rf /other tmp"}}
		for i := range n {
			c.Args = append(c.Args, fmt.Sprintf("--data-dir=/a%d", i))
		}
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
		if dirs := memberchange.DataDirs(memberchange.DirFlags(c.Args)); len(dirs) != min(n, memberchange.MostDirs) {
			t.Errorf("%d folders: %d are counted", n, len(dirs))
		}
		if got := etcdconf.MemberChanges(pod, nil); len(got) > 0 != (n >= memberchange.MostDirs) {
			t.Errorf("%d folders: %v", n, got)
		}
	}
}

// TestRemovalsOnAllWays has preStop hooks that remove their member, surely or perhaps. Lines are separated
// by ¦.
func TestRemovalsOnAllWays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		id, script string
		surely     bool
	}{
		{"RW-1 alone", "etcdctl member remove $ID", true},
		{"RW-2 what follows changes nothing", "etcdctl member remove $ID || exit 1", true},
		{"RW-3 its ID by a substitution", "ID=$(etcdctl member list | grep $HOSTNAME | cut -d, -f1)¦etcdctl member remove $ID¦sleep 5", true},
		{"RW-4 by a function", "leave() { etcdctl member remove $ID; }¦leave", true},
		{"RW-5 by xargs", "etcdctl member list | cut -d, -f1 | xargs -n1 etcdctl member remove", true},
		{"RW-6 as a condition", "if etcdctl member remove $ID; then echo removed; fi", true},
		{"RW-7 after a message on one way", "if [ -z $ID ]; then echo none; fi¦etcdctl member remove $ID", true},
		{"RW-8 with set -e", "set -e¦ID=$(etcdctl member list)¦export A=1¦etcdctl member remove $ID", true},
		{"RW-9 twice, once surely", "[ -e /x ] && etcdctl member remove $A¦etcdctl member remove $B", true},

		{"RW-20 after a test", "[ -e /data/decommission ] && etcdctl member remove $ID", false},
		{"RW-21 in a branch", "if [ -e /x ]; then etcdctl member remove $ID; fi", false},
		{"RW-22 after an exit", "[ -e /x ] || exit 0¦etcdctl member remove $ID", false},
		{"RW-23 after an exit of a case", "case $HOSTNAME in *-0) exit 0;; esac¦etcdctl member remove $ID", false},
		{"RW-24 after a return of a function", "f() { [ -e /x ] || return; etcdctl member remove $ID; }¦f", false},
		{"RW-25 in a function that isn't called", "f() { etcdctl member remove $ID; }", false},
		{"RW-26 in a loop", "for id in $IDS; do etcdctl member remove $id; done", false},
		{"RW-27 in a trap", "trap 'etcdctl member remove $ID' EXIT", false},
		{"RW-28 after another program instead", "[ -e /x ] || exec sleep 1¦etcdctl member remove $ID", false},
		{"RW-29 after a test with set -e", "set -eu¦[ -e /x ]¦etcdctl member remove $ID", false},
		{"RW-30 after a test in brackets with set -e", "set -o errexit¦[[ -e /x ]]¦etcdctl member remove $ID", false},
		{"RW-31 after a file with set -e", "set -e¦X=$(cat /x)¦etcdctl member remove $ID", false},
		{"RW-32 with a mistake", "etcdctl member remove $ID¦if", false},
		{"RW-34 after a file that isn't read", ". /lib.sh¦etcdctl member remove $ID", false},
		{"RW-33 in a script of it", `sh -c "etcdctl member remove $ID"`, false},
	} {
		script := strings.ReplaceAll(row.script, "¦", "\n")
		if got := removesSurely("/bin/sh", "-c", script); got != row.surely {
			t.Errorf("%s: surely %t, want %t", row.id, got, row.surely)
		}
	}
	for _, row := range []struct {
		argv   []string
		surely bool
	}{
		{[]string{"etcdctl", "member", "remove", "$(ID)"}, true},
		{[]string{"sh", "-c", `exec "$@"`, "--", "etcdctl", "member", "remove", "$(ID)"}, false},
		{[]string{"sh", "-ec", "test -e /x\netcdctl member remove $ID"}, false},
		{[]string{"bash", "-o", "errexit", "-c", "test -e /x\netcdctl member remove $ID"}, false},
		{[]string{"sh", "-c", "test -e /x\netcdctl member remove $ID"}, true},
	} {
		if got := removesSurely(row.argv...); got != row.surely {
			t.Errorf("%q: surely %t, want %t", row.argv, got, row.surely)
		}
	}
}

// removesSurely reports whether a preStop hook surely removes the member of its pod.
func removesSurely(hook ...string) bool {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Command: []string{"etcd"}, Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: hook}}},
	}}}}
	return slices.ContainsFunc(etcdconf.MemberChanges(pod, nil), etcdconf.MemberChange.RemovesLeaving)
}

// mountedScript returns a pod that executes a script of a ConfigMap, and what reads the ConfigMap.
func mountedScript(script string) (*corev1.Pod, etcdconf.Contents) {
	c := corev1.Container{Command: []string{"/scripts/start.sh"}, VolumeMounts: []corev1.VolumeMount{{Name: "s", MountPath: "/scripts"}}}
	volume := corev1.Volume{Name: "s", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}, Volumes: []corev1.Volume{volume}}},
		func(string, string) (map[string][]byte, error) {
			return map[string][]byte{"start.sh": []byte(script)}, nil
		}
}

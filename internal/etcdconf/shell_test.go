// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestShellCommand(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"HOSTNAME": "db-12", "TWO": "a b", "EMPTY": "", "URL": "http://x:1"}
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"words", "a  b\tc", []string{"a", "b", "c"}},
		{"a line goes on", "a \\\n  b\\\nc", []string{"a", "bc"}},
		{"ends at a line", "a b\nc", []string{"a", "b"}},
		{"ends at operators", "a b&&c", []string{"a", "b"}},
		{"ends at a comment", "a b # c", []string{"a", "b"}},
		{"a hash within a word", "a#b", []string{"a#b"}},
		{"quotes", `--a='x y' --b="p q" 'it'\''s'`, []string{"--a=x y", "--b=p q", "it's"}},
		{"an empty word", `--a ""`, []string{"--a", ""}},
		{"escapes", `a\ b "\"\$\\x"`, []string{"a b", `"$\x`}},
		{"a variable", "--n=$HOSTNAME ${HOSTNAME}x", []string{"--n=db-12", "db-12x"}},
		{"not within single quotes", "'$HOSTNAME'", []string{"$HOSTNAME"}},
		{"split where bare", `$TWO "$TWO" x$TWO`, []string{"a", "b", "a b", "xa", "b"}},
		{"not split behind a name", "X=$TWO", []string{"X=a b"}},
		{"none of an empty one", "a $EMPTY b", []string{"a", "b"}},
		{"unknown stays", `$WHAT "${WHAT}" $(cat /x y)`, []string{"$WHAT", "${WHAT}", "$(cat /x y)"}},
		{"the pod's name by command", "$(hostname) `hostname -s`", []string{"pod-0", "pod-0"}},
		{"defaults", "${EMPTY:-d} ${EMPTY-d} ${WHAT:-x:1} ${URL:-no}", []string{"d", "x:1", "http://x:1"}},
		{"ends cut off", "${HOSTNAME##*-} ${HOSTNAME%-*} ${URL#http://} ${URL%%:*}", []string{"12", "db", "x:1", "http"}},
		{"redirections", "a >/dev/null 2>&1 b", []string{"a", "b"}},
		{"arguments", `"$@" $1 $9`, []string{"one", "t wo", "one", "$9"}},
		{"a quote that never ends", `a "b c`, []string{"a", "b c"}},
		{"brackets that never end", "a ${b $(c `d", []string{"a", "${b", "$"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := &shell{vars: vars, exported: map[string]bool{}, hostname: "pod-0", positional: []string{"sh", "one", "t wo"}}
			got, _, _ := s.command(row.text)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", row.text, diff)
			}
		})
	}
}

func TestShellAssign(t *testing.T) {
	t.Parallel()
	s := &shell{vars: map[string]string{}, exported: map[string]bool{}, env: func(n string) (string, bool) { return "old", n == "INHERITED" }}
	s.assign("A=1; export B=2\nC=3\nexport C\nINHERITED=new\nif true; then B=5; D=4; fi\necho E=9\nF=6 G=$A ")
	got := map[string]string{}
	for _, n := range []string{"A", "B", "C", "D", "E", "F", "G", "INHERITED"} {
		if v, ok := s.environ(n); ok {
			got[n] = v
		}
	}
	want := map[string]string{"B": "${B}", "C": "3", "F": "6", "G": "1", "INHERITED": "new"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the environment (-want +got):\n%s", diff)
	}
}

func TestParseFlags(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		words []string
		want  map[string]string
	}{
		{"behind =", []string{"--name=a", "-data-dir=b=c"}, map[string]string{"name": "a", "data-dir": "b=c"}},
		{"the next word", []string{"--name", "a", "-wal-dir", "b"}, map[string]string{"name": "a", "wal-dir": "b"}},
		{"the next word, whatever it is", []string{"--name", "--x"}, map[string]string{"name": "--x"}},
		{"without a value", []string{"--client-cert-auth", "--name", "a", "--auto-tls=false"}, map[string]string{"client-cert-auth": "true", "name": "a", "auto-tls": "false"}},
		{"the last wins", []string{"--name=a", "--name=b"}, map[string]string{"name": "b"}},
		{"up to the first that is none", []string{"--name=a", "x", "--data-dir=b"}, map[string]string{"name": "a"}},
		{"up to two dashes", []string{"--name=a", "--", "--data-dir=b"}, map[string]string{"name": "a"}},
		{"empty", []string{"--name="}, map[string]string{"name": ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, parseFlags(row.words)); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzServing holds that no pod makes the reading of its configuration panic or
// run for ever.
func FuzzServing(f *testing.F) {
	for _, script := range []string{
		"exec etcd --name ${HOSTNAME} \\\n --data-dir=/d", "A=`hostname` etcd --name=\"$A\"", "etcd ${", "etcd \"$(", "$@ etcd $@",
		"if x; then ETCD_NAME=1; fi; etcd", "etcd '", "etcd \\", "etcd ${X##*-} ${Y:-$Z} 2>", "etcd --config-file=/c --name",
	} {
		f.Add(script, "--name", "$(A)$$(B)$(", "name: x")
	}
	f.Fuzz(func(_ *testing.T, script, arg, value, file string) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a-0", Namespace: "n"},
			Spec: corev1.PodSpec{
				Containers: []corev1.Container{{
					Env: []corev1.EnvVar{
						{Name: "A", Value: value}, {Name: "ETCD_NAME", Value: "$(A)"}, {Name: "ETCD_DATA_DIR", Value: "/d"},
					},
					VolumeMounts: []corev1.VolumeMount{{Name: "c", MountPath: "/"}},
				}},
				Volumes: []corev1.Volume{{Name: "c", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}},
			},
		}
		contents := func(string, string) (map[string][]byte, error) { return map[string][]byte{"c": []byte(file)}, nil }
		c := &pod.Spec.Containers[0]
		c.Command, c.Args = []string{"sh", "-c", script}, []string{arg}
		_, _ = ParsePod(pod, contents)
		c.Command, c.Args = []string{"etcd"}, []string{arg, script}
		_, _ = ParsePod(pod, contents)
		c.Command, c.Args = nil, []string{"start-etcd", arg}
		_, _ = ParsePod(pod, contents)
	})
}

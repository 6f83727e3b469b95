// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestUnreadFiles has a row per way in which a script may change a variable that it inherits. Then a flag with it is
// not known.
func TestUnreadFiles(t *testing.T) {
	t.Parallel()
	for script, known := range map[string]bool{
		"exec etcd --data-dir=$DIR":                                        true,
		"echo $DIR; exec etcd --data-dir=$DIR":                             true,
		"exec etcd --data-dir=/data; . /env":                               true,
		". /env; exec etcd --data-dir=/data":                               true,
		". /env; DIR=/data; exec etcd --data-dir=$DIR":                     true,
		"(. /env); exec etcd --data-dir=$DIR":                              true,
		"command -v eval; exec etcd --data-dir=$DIR":                       true,
		"log() { echo $*; }; log a; exec etcd --data-dir=$DIR":             true,
		". /env; exec etcd --data-dir=$DIR":                                false,
		"source /env; exec etcd --data-dir=${DIR}":                         false,
		". /env; exec etcd --data-dir=${DIR:-/data}":                       false,
		". /env; X=$DIR/x; exec etcd --data-dir=$X":                        false,
		"[ -e /env ] && . /env; exec etcd --data-dir=$DIR":                 false,
		"if [ -e /env ]; then . /env; fi; exec etcd --data-dir=$DIR":       false,
		"for f in /env/*; do . $f; done; exec etcd --data-dir=$DIR":        false,
		"load() { . /env; }; load; exec etcd --data-dir=$DIR":              false,
		"all() { load; }; load() { . /env; }; all; etcd --data-dir=$DIR":   false,
		"eval $(cat /env); exec etcd --data-dir=$DIR":                      false,
		"command eval DIR=$X; exec etcd --data-dir=$DIR":                   false,
		"command -p eval DIR=$X; exec etcd --data-dir=$DIR":                false,
		"command -- eval DIR=$X; exec etcd --data-dir=$DIR":                false,
		"command -p -- eval DIR=$X; exec etcd --data-dir=$DIR":             false,
		"builtin eval DIR=$X; exec etcd --data-dir=$DIR":                   false,
		"builtin -- command eval DIR=$X; exec etcd --data-dir=$DIR":        false,
		"\\eval DIR=$X; exec etcd --data-dir=$DIR":                         false,
		"e\\val DIR=$X; exec etcd --data-dir=$DIR":                         false,
		"\"eval\" DIR=$X; exec etcd --data-dir=$DIR":                       false,
		"'ev'al DIR=$X; exec etcd --data-dir=$DIR":                         false,
		"f() { command -p eval DIR=$X; }; f; exec etcd --data-dir=$DIR":    false,
		"f() { export $(cat /env); }; f; exec etcd --data-dir=$DIR":        false,
		"export $(cat /env); exec etcd --data-dir=$DIR":                    false,
		"export \"DIR=$X\"; exec etcd --data-dir=$DIR":                     false,
		"read -r $NAME < /env; exec etcd --data-dir=$DIR":                  false,
		"command read -r DIR < /env; exec etcd --data-dir=$DIR":            false,
		"command -p read -r DIR < /env; exec etcd --data-dir=$DIR":         false,
		"while read -r DIR; do :; done < /env; exec etcd --data-dir=$DIR":  false,
		"while $X; do command -- eval $Y; done; exec etcd --data-dir=$DIR": false,
	} {
		pod := &corev1.Pod{}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"sh", "-c", script}, Env: []corev1.EnvVar{{Name: "DIR", Value: "/data"}}}}
		config, err := ParsePod(pod, Unread(""))
		if err != nil || config.KnowsDataDir() != known || known && config.DataDir != "/data" || !known && config.Unknown["data-dir"] == "" && !unresolved(config.DataDir) {
			t.Errorf("%s: %q, unknown %q, %v; want known %t", script, config.DataDir, config.Unknown["data-dir"], err, known)
		}
	}
}

// TestUnreadPrograms: a file that isn't read may change the program that a variable names. Then it only may be etcd.
func TestUnreadPrograms(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]Evidence{
		"exec $RUN": Shown, ". /env; exec etcd": Shown, ". /env; exec $RUN": Hinted, "[ -e /env ] && . /env; exec $RUN": Hinted,
		"P=etcd; exec $P": Shown, "P=etcd; if [ -e /env ]; then . /env; fi; exec $P": Hinted, "P=etcd; export $(cat /env); exec $P": Hinted,
		"f() { echo a; }; P=etcd; f; exec $P": Shown, "f() { . /env; }; P=etcd; f; exec $P": Hinted, "g() { eval $X; }; f() { g; }; P=etcd; f; exec $P": Hinted,
		"P=etcd; printf -v P server; exec $P": Hinted, "f() { eval $X; }; P=etcd; exec $P": Shown,
	} {
		pod := &corev1.Pod{}
		pod.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"sh", "-c", script}, Env: []corev1.EnvVar{{Name: "RUN", Value: "etcd"}}}}
		if got := evidenceIn(pod, nil); got != want {
			t.Errorf("%s: %d, want %d", script, got, want)
		}
	}
}

// TestReads counts the reads of an object that has many variables of a pod, whether it can be read or not.
func TestReads(t *testing.T) {
	t.Parallel()
	ref := corev1.LocalObjectReference{Name: "settings"}
	for what, row := range map[string]struct {
		data map[string][]byte
		err  error
	}{
		"there":     {map[string][]byte{"ETCD_NAME": []byte("a")}, nil},
		"gone":      {nil, &MissingError{Kind: "ConfigMap", Namespace: "team", Name: "settings"}},
		"forbidden": {nil, errors.New("forbidden")},
	} {
		pod := &corev1.Pod{}
		c := corev1.Container{Name: "etcd", Command: []string{"etcd"}, EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref}}}}
		for _, name := range []string{"ETCD_DATA_DIR", "ETCD_WAL_DIR", "ETCD_INITIAL_CLUSTER"} {
			c.Env = append(c.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: ref, Key: name}}})
		}
		pod.Spec.Containers = []corev1.Container{c}
		reads := 0
		_, _ = ParsePod(pod, func(string, string) (map[string][]byte, error) {
			reads++
			return row.data, row.err
		})
		if reads != 1 {
			t.Errorf("%s: %d reads", what, reads)
		}
	}
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package olddata

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// judged returns a cluster whose old data Judge has found.
func judged(t *testing.T) *discarding {
	t.Helper()
	d := newDiscarding(t)
	if _, _, err := d.judge(t); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestInHelper: the helper pod is gone after its command, also if that fails.
func TestInHelper(t *testing.T) {
	t.Parallel()
	for _, fail := range []string{"", "main-0-restore"} {
		d := judged(t)
		d.fail = fail
		out, err := d.inHelper(t.Context(), "main-0", []string{"sh", "-c", "echo done"})
		if (err != nil) != (fail != "") || err == nil && out != "done\n" || err != nil && !strings.Contains(err.Error(), "connection lost") {
			t.Errorf("%q: %q, %v", fail, out, err)
		}
		if d.Get(operatetest.Path("Pod", "main-0-restore")) != nil {
			t.Errorf("%q: the helper pod is left", fail)
		}
	}
}

// TestRemoveFiles: nothing is deleted without the lock, and nothing more than the paths.
func TestRemoveFiles(t *testing.T) {
	t.Parallel()
	path := "/data/member.before-" + keptFirst
	for _, held := range []bool{true, false} {
		d := judged(t)
		d.StillHeld = func() error {
			if held {
				return nil
			}
			return errors.New("the lock is lost")
		}
		before := d.left(t, 0)
		sizes, err := d.removeFiles(t.Context(), "main-0", []string{path})
		if held != (err == nil) || held && (len(sizes) != 1 || sizes[path] < 8192) {
			t.Errorf("held %t: %v, %v", held, sizes, err)
		}
		want := before
		if held {
			want = strings.Replace(before, "member.before-"+keptFirst+" ", "", 1)
			want = strings.Replace(want, "member.copied-"+keptSecond+" ", "", 1) // the sums go with any data
		}
		if left := d.left(t, 0); left != want {
			t.Errorf("held %t: main-0 has %s, want %s", held, left, want)
		}
	}
}

// TestFindShells: a member whose container has no shell gets a helper pod.
func TestFindShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []bool{true, false} {
		d := judged(t)
		d.shell = shell
		if err := d.findShells(t.Context()); err != nil || len(d.found.shells) != 3 || d.found.shells["main-0"] != shell {
			t.Errorf("with a shell %t: %v, %v", shell, d.found.shells, err)
		}
		if len(d.execs) != 0 {
			t.Errorf("it deletes data of %v", d.execs)
		}
	}
}

// TestSizes: a size is missing if the container can't be asked, and below 0 if the path is not there.
func TestSizes(t *testing.T) {
	t.Parallel()
	d := judged(t)
	pods := []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "main-0"}}}
	there, absent := "/data/member.before-"+keptFirst, "/data/member.undone-"+keptFirst
	items := []Kept{{Pod: "main-0", Path: there}, {Pod: "main-0", Path: absent}}
	if sizes := d.sizes(t.Context(), pods, items); sizes[there] < 8192 || sizes[absent] != -1 {
		t.Errorf("sizes are %v", sizes)
	}
	d.fail = "main-0-restore"
	if sizes := d.sizes(t.Context(), pods, items); len(sizes) != 0 {
		t.Errorf("without an answer, sizes are %v", sizes)
	}
	if before := d.left(t, 0); !strings.Contains(before, "member.before-"+keptFirst) {
		t.Errorf("main-0 has %s", before)
	}
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProgressOnAPipe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var printed bytes.Buffer
		report := newReport(&printed, 3, time.Now)

		step := report.begin(groups[0])
		step.started()
		pass(t, 10*time.Second)
		step.downloading("k8s.io/api v0.37.1")
		pass(t, 25*time.Second)
		step.compiled()
		step.compiled()
		pass(t, 27*time.Second)
		step.end(nil)

		step = report.begin(bye)
		pass(t, 31*time.Second)
		step.end(nil)

		step = report.begin(hello)
		step.started()
		pass(t, time.Second)
		step.end(errors.New("the disk is full"))

		want := `[1/3] building kubernetes v1.37.1: kube-apiserver, kube-controller-manager, kube-proxy, kube-scheduler, kubectl, kubelet
[1/3] building kubernetes v1.37.1 … 30s, downloading k8s.io/api v0.37.1
[1/3] building kubernetes v1.37.1 … 1m0s, 2 packages compiled
[1/3] built kubernetes v1.37.1 in 1m2s
[2/3] waiting for another process that builds bye … 30s
[2/3] waited for bye in 31s
[3/3] building hello
[3/3] could not build hello in 1s
`
		if diff := cmp.Diff(want, printed.String()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var printed bytes.Buffer
		report := newReport(&printed, 1, time.Now)
		report.live = true
		step := report.begin(hello)
		step.started()
		pass(t, 1500*time.Millisecond)
		step.end(nil)
		const again = "\r\x1b[K"
		want := again + "[1/1] building hello … 0s" + again + "[1/1] building hello … 1s" + again + "[1/1] built hello in 2s\n"
		if diff := cmp.Diff(want, printed.String()); diff != "" {
			t.Error(diff)
		}
	})
}

// pass lets time pass in a bubble where no one waits for it.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	<-time.After(d)
	synctest.Wait()
}

func TestCompilerOutput(t *testing.T) {
	t.Parallel()
	step := newReport(t.Output(), 1, time.Now).begin(hello)
	defer step.end(nil)
	out := &compilerOutput{step: step}
	for _, part := range []string{"go: downloading k8s.io/", "api v0.37.1\nfmt\nos\n# text\ntext.go:3:1: ", "wrong\nfm"} {
		if _, err := out.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if want := "\n\t# text\n\ttext.go:3:1: wrong\n\tfm"; out.tail() != want {
		t.Errorf("the tail is %q, want %q", out.tail(), want)
	}
	if step.packages != 2 {
		t.Errorf("%d packages compiled, want 2", step.packages)
	}
}

func TestDownloadsAreReported(t *testing.T) {
	t.Parallel()
	var printed bytes.Buffer
	out := &downloads{progress: &printed, title: "hello"}
	for _, line := range []string{"go: downloading k8s.io/api v0.37.1\n", "go: downloading k8s.io/client-go v0.37.1\n"} {
		if _, err := out.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if want := "downloading the modules of hello\n"; printed.String() != want {
		t.Errorf("the progress is %q, want %q", &printed, want)
	}
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestPluginStatusWatched watches a cluster that loses a pod and gets it back. It watches on a
// terminal, into a file, and as a program.
func TestPluginStatusWatched(t *testing.T) {
	operating(t, 3)
	c := start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain})
	args := []string{"status", target(c), "-n", c.Namespace, "--watch", "--interval", "300ms"}
	file, program, screen := startPlugin(t, args...), startPlugin(t, append(args, "-o", "json")...), startOnTerminal(t, 60, args...)
	const well, ill = "healthy, 3 of 3 members ready", "no pod of this cluster runs it"
	show := func(texts, health string) {
		t.Helper()
		lastShows(t, file, "---\n", texts)
		lastShows(t, program, "\n{\n", `"health": "`+health+`"`)
		lastShows(t, screen.running, "\x1b[H", texts)
	}
	show(well, output.Healthy)
	if err := c.Scale(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	show(ill, output.Degraded)
	if err := c.Scale(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	show(well, output.Healthy)
	screen.resize(t, 10)
	eventually(t, "a status that fits in a window of 10 lines", func(context.Context) (string, bool, error) {
		frame := last(screen.running, "\x1b[H")
		printed := lacking(frame, []string{"Ctrl-C to stop; last refresh ", well, "more lines, which don't fit into the window"}) == ""
		return fmt.Sprintf("%q", frame), printed && strings.Count(frame, "\n") == 9, nil
	})

	screen.types(t, "\x03")
	ends(t, screen.running)
	interrupt(t, file, os.Interrupt)
	interrupt(t, program, syscall.SIGTERM)
	readsRecovery(t, program.stdout.String())
}

// lastShows waits until the plugin's last printed status contains the texts. Each status starts
// with mark.
func lastShows(t *testing.T, r *running, mark, texts string) {
	t.Helper()
	eventually(t, strings.Join(r.cmd.Args[1:], " ")+" to show "+texts, func(context.Context) (string, bool, error) {
		text := last(r, mark)
		return text + r.stderr.String(), strings.Contains(text, texts), nil
	})
}

func last(r *running, mark string) string {
	text := r.stdout.String()
	return text[max(0, strings.LastIndex(text, mark)):]
}

func interrupt(t *testing.T, r *running, s os.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	ends(t, r)
}

// ends checks that an interrupt ends the plugin with exit code 0. A user has no other way to
// stop it.
func ends(t *testing.T, r *running) {
	t.Helper()
	if code := r.wait(t); code != 0 || r.stderr.String() != "" {
		t.Errorf("exit code %d after an interrupt: %s", code, &r.stderr)
	}
}

// readsRecovery checks that a program can parse the output, and that it reads a healthy, an
// unhealthy and a healthy status.
func readsRecovery(t *testing.T, text string) {
	t.Helper()
	var seen []string
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var st output.EtcdClusterStatus
		err := decoder.Decode(&st)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("after %q: %v in\n%s", seen, err, text)
		}
		if len(seen) == 0 || seen[len(seen)-1] != st.Health {
			seen = append(seen, st.Health)
		}
	}
	if len(seen) < 3 || seen[0] != output.Healthy || seen[len(seen)-1] != output.Healthy {
		t.Errorf("the statuses are %q", seen)
	}
}

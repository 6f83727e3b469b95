// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// ForEach does actions for one pod after the other. Their commands are the lines of a loop.
type ForEach struct {
	Pods []string
	Acts []PodAction
}

// PodAction is an action on one of several pods. Its fields have EachPod where the name
// of the pod belongs.
type PodAction interface {
	Action
	forPod(name string) Action
}

// EachPod stands for the name of a pod, as the variable of a shell.
const EachPod = "$pod"

func withPod(text, name string) string { return strings.ReplaceAll(text, EachPod, name) }

// Command implements Action.
func (e ForEach) Command(f Flags) string {
	lines := []string{"for pod in " + strings.Join(e.Pods, " ") + "; do"}
	for _, a := range e.Acts {
		lines = append(lines, "  "+strings.ReplaceAll(a.Command(f), "\n", "\n  "))
	}
	return strings.Join(append(lines, "done"), "\n")
}

// Do implements Action.
func (e ForEach) Do(ctx context.Context, c Clients) error {
	for _, pod := range e.Pods {
		for _, a := range e.Acts {
			if err := a.forPod(pod).Do(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Exec runs a command in a pod.
type Exec struct {
	Pod  string
	Args []string
}

// Command implements Action.
func (e Exec) Command(f Flags) string {
	return f.kubectl("exec %s -- %s", e.Pod, quoted(e.Args))
}

// Do implements Action.
func (e Exec) Do(ctx context.Context, c Clients) error {
	return c.exec(ctx, e.Pod, e.Args, nil, io.Discard)
}

func (e Exec) forPod(name string) Action {
	e.Pod = withPod(e.Pod, name)
	return e
}

func (c Clients) exec(ctx context.Context, pod string, args []string, in io.Reader, out io.Writer) error {
	if err := c.Exec(ctx, pod, args, in, out); err != nil {
		return fmt.Errorf("run %s in pod %s: %w", quoted(args), pod, err)
	}
	return nil
}

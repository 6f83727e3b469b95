// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Wait waits until all objects have reached a state.
type Wait struct {
	Kind    Kind
	Names   []string
	For     State
	Timeout time.Duration
	// ImageFlag is the flag that sets the image of the pods, empty for none. With it, an image that can't be pulled is
	// reported at once, and ends the wait early.
	ImageFlag string
	// Pods are those for which claims are awaited, none for other kinds. If a claim's pod doesn't run, the error has its
	// reason.
	Pods []string
	// Members means that the pods run members, which would go on if they did not stop. Then the wait for their deletion also
	// needs their nodes to confirm that they stopped.
	Members bool
}

// pullTime is how long an image may fail to be pulled before the wait ends. A registry may be away for a moment.
const pullTime = 30 * time.Second

// pullProblem matches the kubelet's reasons for an image that it can't pull.
var pullProblem = regexp.MustCompile(`: (ErrImage\w+|ImagePull\w+|InvalidImageName|RegistryUnavailable)\b`)

// Command implements Action.
func (w Wait) Command(f Flags) string {
	return f.kubectl("wait --for=%s --timeout=%s %s", w.For, policy.Duration(w.Timeout), plural(w.Kind, w.Names))
}

// Do implements Action.
func (w Wait) Do(ctx context.Context, c Clients) error {
	awaited := fmt.Sprintf("%s of %s", w.For, plural(w.Kind, w.Names))
	why, failing := "", time.Time{}
	nodes := map[string]string{}
	err := c.poll(ctx, w.Timeout, awaited, func() (bool, error) {
		reached := true
		for _, name := range w.Names {
			o, err := c.read(ctx, w.Kind, name)
			if err != nil { // as the end of the context; why remains
				return false, err
			}
			if err := w.confirm(ctx, c, o, name, nodes); err != nil {
				why = ""
				return false, err
			}
			if w.For.reachedBy(o) {
				continue
			}
			if reached {
				why = cmp.Or(notRunning(o), w.podProblem(ctx, c, name))
			}
			if reached = false; w.For != Deleted { // the nodes of all pods are read before one is gone
				return false, w.pull(c, why, &failing)
			}
		}
		return reached, nil
	})
	if err != nil && why != "" && !strings.Contains(err.Error(), why) {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return err
}

// pull reports that a pod's image can't be pulled, and returns an error when that has lasted too long. failing is since
// when.
func (w Wait) pull(c Clients, why string, failing *time.Time) error {
	if w.ImageFlag == "" || !pullProblem.MatchString(why) {
		*failing = time.Time{}
		return nil
	}
	now := c.Clock.Now()
	switch {
	case failing.IsZero():
		*failing = now
		if c.Warn != nil {
			c.Warn("%s. It is retried for %s. To set another image, use %s.", why, policy.Duration(pullTime), w.ImageFlag)
		}
	case now.Sub(*failing) > pullTime:
		return fmt.Errorf("wait for %s of %s: %s: set an image that the nodes can pull with %s", w.For, plural(w.Kind, w.Names), why, w.ImageFlag)
	}
	return nil
}

// notRunning returns what a pod shows of why it doesn't run, empty for another object and for nothing.
func notRunning(o *unstructured.Unstructured) string {
	var pod corev1.Pod
	if o == nil || o.GetKind() != "Pod" || runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &pod) != nil {
		return ""
	}
	if why := podstate.Of(&pod); why != (podstate.Problem{}) {
		return format.PrintableLine(fmt.Sprintf("pod %s: %s", pod.Name, why))
	}
	return ""
}

// podProblem returns why the pod of a claim doesn't run, empty for unknown. The scheduler waits with the claim for a
// node that can run the pod, and only the pod shows why there is none.
func (w Wait) podProblem(ctx context.Context, c Clients, claim string) string {
	for _, pod := range w.Pods {
		if !strings.HasSuffix(claim, "-"+pod) {
			continue
		}
		o, err := c.read(ctx, Pod, pod)
		if err != nil {
			return "" // it only explains
		}
		return notRunning(o)
	}
	return ""
}

// State is what Wait waits for. A State without a name is that an object exists.
type State struct{ condition, field, value string }

// Created and Deleted are that an object exists, and that it doesn't.
var (
	Created = State{}
	Deleted = State{value: "absent"}
)

// Condition returns the state that a condition is true.
func Condition(name string) State { return State{condition: name} }

// Field returns the state that a field has a value: status.phase, Bound.
func Field(path string, value any) State { return State{field: path, value: fmt.Sprint(value)} }

// String returns the state as kubectl wait takes it.
func (s State) String() string {
	switch {
	case s.condition != "":
		return "condition=" + s.condition
	case s.field != "":
		return fmt.Sprintf("jsonpath='{.%s}'=%s", s.field, s.value)
	case s == Deleted:
		return "delete"
	}
	return "create"
}

// reachedBy reports whether an object has the state. Nil is an object that doesn't exist.
func (s State) reachedBy(o *unstructured.Unstructured) bool {
	switch {
	case o == nil || s == Deleted:
		return o == nil && s == Deleted
	case s.condition != "":
		return conditionTrue(o, s.condition)
	case s.field != "":
		value, found, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(s.field, ".")...)
		return found && err == nil && fmt.Sprint(value) == s.value
	}
	return true
}

func conditionTrue(o *unstructured.Unstructured, name string) bool {
	conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == name && c["status"] == "True" {
			return true
		}
	}
	return false
}

// AwaitReconcile waits until etcd-druid has removed the annotation that makes it reconcile,
// which it does at the end of a reconciliation.
type AwaitReconcile struct{ Etcd string }

// reconcileTimeout is how long AwaitReconcile waits.
const reconcileTimeout = 15 * time.Minute

// Command implements Action.
func (a AwaitReconcile) Command(f Flags) string {
	get := f.kubectl("get etcd/%s -o jsonpath='{.metadata.annotations.%s}'", a.Etcd, strings.ReplaceAll(druidv1alpha1.DruidOperationAnnotation, ".", `\.`))
	return fmt.Sprintf(`for attempt in $(seq %d); do
  operation=$(%s || echo unknown)
  [ -z "$operation" ] && break
  sleep 2
done
[ -z "$operation" ] || { echo "etcd-druid has not ended its reconciliation"; false; }`, int(reconcileTimeout.Seconds())/2, get)
}

// Do implements Action.
func (a AwaitReconcile) Do(ctx context.Context, c Clients) error {
	return c.poll(ctx, reconcileTimeout, "etcd-druid to end its reconciliation of "+a.Etcd, func() (bool, error) {
		o, err := c.read(ctx, Etcd, a.Etcd)
		if err != nil || o == nil {
			return false, nil //nolint:nilerr // it may be readable at the next attempt, as for the command
		}
		_, has := o.GetAnnotations()[druidv1alpha1.DruidOperationAnnotation]
		return !has, nil
	})
}

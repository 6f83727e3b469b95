// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// requestLimit is the timeout of one request, which the API server gives up after a minute.
	requestLimit = 2 * time.Minute
	// drainLimit is long enough for kubectl drain to retry several times.
	drainLimit = 30 * time.Second
)

// evict requests the eviction of a member.
func evict(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	return w.evict(ctx, s.Member), nil, nil
}

// evictTwo requests the eviction of two members at the same moment.
func evictTwo(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	var outcomes [2]string
	var both sync.WaitGroup
	for i := range outcomes {
		both.Go(func() { outcomes[i] = w.evict(ctx, (s.Member+i)%w.size) })
	}
	both.Wait()
	return strings.Join(outcomes[:], "; "), nil, nil
}

func (w *world) evict(ctx context.Context, member int) string {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	pod := w.pod(member)
	w.allow(pod)
	answer, err := w.cluster.Evict(ctx, pod)
	if err != nil { // it may have been admitted
		return fmt.Sprintf("%s: %v", pod, err)
	}
	if answer.Code != http.StatusCreated {
		w.refused(pod)
	}
	return fmt.Sprintf("%s: %d %s", pod, answer.Code, answer.Message)
}

// drain drains the node of a member with kubectl. The node stays cordoned until the fault ends.
func drain(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	m, err := w.cluster.Member(ctx, s.Member)
	if err != nil || m.Node == "" {
		return fmt.Sprintf("left out: %s has no node", w.pod(s.Member)), nil, nil //nolint:nilerr // a step that is not possible is an outcome
	}
	all, err := w.cluster.Members(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, other := range all {
		if other.Node == m.Node {
			w.allow(other.Pod.Name)
		}
	}
	var printed bytes.Buffer
	err = w.cluster.Drain(ctx, m.Node, drainLimit, &printed)
	outcome := fmt.Sprintf("%s: drained", m.Node)
	if err != nil {
		outcome = fmt.Sprintf("%s: not drained: %s", m.Node, lastLine(printed.String()))
	}
	return outcome, func(ctx context.Context) error {
		var printed bytes.Buffer
		if err := w.cluster.Uncordon(ctx, m.Node, &printed); err != nil {
			return fmt.Errorf("%w: %s", err, printed.String())
		}
		return nil
	}, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// deletePod deletes a member's pod.
func deletePod(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	w.change(func(f *facts) { f.deletes = true })
	name := w.pod(s.Member)
	w.allow(name)
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = w.cluster.Namespace, name
	if err := w.kube.Delete(ctx, pod); err != nil {
		w.refused(name)
		return err.Error(), nil, nil //nolint:nilerr // a refusal is an outcome
	}
	return "deleted " + name, nil, nil
}

// scale writes the replicas as kubectl scale does. If the write is admitted, the fault ends with
// the previous replicas.
func scale(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	w.change(func(f *facts) { f.deletes = true })
	var pods []string
	for ordinal := s.Size; ordinal < w.size; ordinal++ {
		pods = append(pods, w.pod(ordinal))
	}
	w.allow(pods...)
	if err := w.cluster.Scale(ctx, s.Size); err != nil {
		w.refused(pods...)
		return err.Error(), nil, nil //nolint:nilerr // a refusal is an outcome
	}
	w.briefly(ctx, fmt.Sprintf("the removal of %q", pods), func(context.Context) (string, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		left := slices.DeleteFunc(slices.Clone(pods), func(pod string) bool { return !w.judge.seen[pod].Available(now()) })
		return fmt.Sprintf("%q run", left), len(left) == 0, nil
	})
	return fmt.Sprintf("admitted: without %q", pods), func(ctx context.Context) error {
		if err := w.cluster.Scale(ctx, w.size); err != nil {
			return err
		}
		w.briefly(ctx, "all members to be Ready", func(context.Context) (string, bool, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			n := w.judge.count(now(), w.facts.disturbed)
			return fmt.Sprintf("%d run", n), n+len(w.facts.disturbed) >= w.size, nil
		})
		return nil
	}, nil
}

// changeTemplate changes the pod template without an effect on etcd, and does not wait for the
// rollout.
func changeTemplate(ctx context.Context, w *world, _ Step) (string, func(context.Context) error, error) {
	set, err := w.cluster.StatefulSet(ctx)
	if err != nil {
		return "", nil, err
	}
	for member := range w.size {
		w.allow(w.pod(member))
	}
	before := set.DeepCopy()
	stamp := now().Format(time.RFC3339Nano)
	metav1.SetMetaDataAnnotation(&set.Spec.Template.ObjectMeta, stampAnnotation, stamp)
	if err := w.kube.Patch(ctx, set, client.StrategicMergeFrom(before)); err != nil {
		return "", nil, err
	}
	w.stamp = stamp
	if held := set.Annotations[v1alpha1.RolloutValueAnnotation]; held != "" {
		return "held: " + held, nil, nil
	}
	// etcd-webhook did not answer in time, so the StatefulSet's controller restarts the members.
	w.change(func(f *facts) { f.loose = true })
	return "not held", nil, nil
}

// stampAnnotation of the pod template is what the test changes.
const stampAnnotation = "stamp"

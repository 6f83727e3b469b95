// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// atOnce limits how many admissions run at once.
	atOnce = 40
	// reviewLimit is the API server's timeout for the review of a pod.
	reviewLimit = 3 * time.Second

	notReviewed = "not reviewed"
)

// admissions is a load. It creates members' pods at a fixed rate as dry runs. Each returned pod
// must have the terms that keep members apart. All webhooks fail open, so only the terms show
// that the pod was reviewed.
type admissions struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	pod    *corev1.Pod
	began  time.Time
	// failedOpen is the API server's counter before the load.
	failedOpen string
	// open holds one element for each admission that is running.
	open chan struct{}

	mu   sync.Mutex
	sent int
	lost []string
	// late counts the reviews that reached the API server's timeout. elsewhere is the longest
	// duration of a request that no webhook reviews.
	late      int
	elsewhere time.Duration
	// slowest is the longest duration of a creation.
	slowest time.Duration
}

// admit starts a load with this rate of reviews, after the first pod is reviewed. It creates a
// policy, so etcd-webhook must be installed.
func admit(tb testing.TB, perSecond int) *admissions {
	tb.Helper()
	a := &admissions{pod: member(tb), open: make(chan struct{}, atOnce)}
	eventually(tb, "a member's pod to be reviewed", func(ctx context.Context) (string, bool, error) {
		lost := a.try(ctx)
		return lost, lost == "", nil
	})
	a.failedOpen, a.began = counts(tb, FailedOpen), time.Now()
	ctx, cancel := context.WithCancel(tb.Context())
	a.cancel = cancel
	tb.Cleanup(func() { a.end() })
	a.done.Go(func() { a.run(ctx, time.Second/time.Duration(perSecond)) })
	a.done.Go(func() { a.compare(ctx) })
	return a
}

// member returns a pod that could be the third member of a StatefulSet that doesn't exist.
func member(tb testing.TB) *corev1.Pod {
	tb.Helper()
	name := namespace(tb, "admissions")
	p := &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NamespaceSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{corev1.LabelMetadataName: v1alpha1.LabelValue(name)}}
	create(tb, p)
	labels := map[string]string{"app": name}
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Image: "etcd", Command: []string{"etcd"}}}}
	sts := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(0)), ServiceName: name, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}
	create(tb, sts)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: name, Name: name + "-2",
		Labels: map[string]string{"app": name, appsv1.StatefulSetPodNameLabel: name + "-2"},
	}, Spec: spec}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	return pod
}

func (a *admissions) run(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			// A slow machine doesn't get more requests than it can answer. Otherwise the load
			// itself would make it too slow.
			select {
			case a.open <- struct{}{}:
			default:
				continue
			}
			// A hanging request delays only a few others. Otherwise an outage would count only
			// once. The test also waits for its response after the end of the load.
			a.done.Go(func() {
				defer func() { <-a.open }()
				a.one(context.WithoutCancel(ctx))
			})
		}
	}
}

// compare measures how slow the API server is without webhooks.
func (a *admissions) compare(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.pod.Namespace, Name: "elsewhere"}}
		_ = admin.Create(ctx, config, client.DryRunAll) // only the duration counts
		a.mu.Lock()
		a.elsewhere = max(a.elsewhere, time.Since(began))
		a.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (a *admissions) one(ctx context.Context) {
	began := time.Now()
	lost := a.try(ctx)
	took := time.Since(began)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sent++
	a.slowest = max(a.slowest, took)
	switch {
	case lost == notReviewed && took >= reviewLimit:
		a.late++
	case lost != "":
		a.lost = append(a.lost, fmt.Sprintf("%s (after %s)", lost, took.Round(time.Millisecond)))
	}
}

// try returns what was wrong with one admission. It is empty if the admission was reviewed.
func (a *admissions) try(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	pod := a.pod.DeepCopy()
	if err := admin.Create(ctx, pod, client.DryRunAll); err != nil {
		return err.Error()
	}
	if pod.Annotations[v1alpha1.SpreadAnnotation] == "" {
		return notReviewed
	}
	return ""
}

// end stops the load. It returns the number of requests, and the errors of those that were
// refused or not reviewed.
func (a *admissions) end() (sent int, lost []string) {
	a.cancel()
	a.done.Wait()
	return a.sent, a.lost
}

// allReviewed ends the load and fails unless each pod was reviewed. It also checks the API
// server's counter. On an overloaded machine, some reviews may be too late.
func (a *admissions) allReviewed(tb testing.TB) {
	tb.Helper()
	sent, lost := a.end()
	tb.Logf("%d admissions, %.0f a second, the slowest took %s, %d were answered too late; without a review the slowest took %s",
		sent, float64(sent)/time.Since(a.began).Seconds(), a.slowest.Round(time.Millisecond), a.late, a.elsewhere.Round(time.Millisecond))
	if a.late > 0 && a.elsewhere < reviewLimit/4 {
		tb.Errorf("%d of %d reviews were too late on a fast machine", a.late, sent)
	}
	if sent == 0 || len(lost) > 0 {
		tb.Errorf("%d of %d admissions were not reviewed: %q\n%s", len(lost), sent, lost[:min(len(lost), 5)], strings.Join(opened(tb), ""))
	}
	if now := counts(tb, FailedOpen); now != a.failedOpen && a.late == 0 {
		tb.Errorf("the API server counts reviews that failed open: %s, before %s", now, a.failedOpen)
	}
}

// opened returns the API server's messages about requests that it admitted without a review.
func opened(tb testing.TB) []string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(bed.Dir(), "logs", "control-plane", "kube-apiserver.log"))
	if err != nil {
		tb.Fatal(err)
	}
	var printed []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "failing open") {
			printed = append(printed, line)
		}
	}
	return printed
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// readEvents reads the warnings that etcd-webhook recorded and those about its own objects,
// the latest first.
func (l *Inspector) readEvents(ctx context.Context) error {
	var recorded, about corev1.EventList
	warnings := client.MatchingFields{"type": corev1.EventTypeWarning, "reportingComponent": webhookName}
	if err := l.kube.List(ctx, &recorded, warnings); err != nil {
		return err
	}
	if space := l.st.Program.Namespace; space != "" {
		if err := l.kube.List(ctx, &about, client.InNamespace(space), client.MatchingFields{"type": corev1.EventTypeWarning}); err != nil {
			return err
		}
	}
	var out []v1alpha1.WarningEvent
	for _, e := range slices.Concat(recorded.Items, about.Items) {
		last, count := format.EventTime(&e)
		object := strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
		if e.InvolvedObject.Namespace != "" && e.InvolvedObject.Namespace != l.st.Program.Namespace {
			object += " in " + e.InvolvedObject.Namespace
		}
		out = append(out, v1alpha1.WarningEvent{
			Last: metav1.NewTime(last), Count: count, Reason: e.Reason, Message: format.OneLine(e.Message), Object: object,
		})
	}
	slices.SortStableFunc(out, func(a, b v1alpha1.WarningEvent) int {
		return cmp.Or(b.Last.Compare(a.Last.Time), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
	})
	l.st.Events = out[:min(len(out), format.EventsShown)]
	return nil
}

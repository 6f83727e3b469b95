// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// controllerName is the reporting controller of Events.
const controllerName = "kubectl-etcd.dev/kubectl-etcd"

// Announce records an operation as an Event on the cluster's owner. The message contains the
// user, the operation and the reason. An error is no reason to stop the operation.
func Announce(ctx context.Context, kube client.Client, o owner.Owner, reason policy.Reason, message string) error {
	if reason == (policy.Reason{}) {
		return fmt.Errorf("record an Event on %s: it has no reason", o)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	event := eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{GenerateName: eventPrefix(o.Name), Namespace: o.Namespace},
		EventTime:           metav1.NewMicroTime(clock.RealClock{}.Now()),
		ReportingController: controllerName, ReportingInstance: "kubectl-etcd",
		Action: reason.Name(), Reason: reason.Name(), Type: corev1.EventTypeNormal, Note: format.Note(message),
		Regarding: corev1.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
	}
	if err := kube.Create(ctx, &event); err != nil {
		return fmt.Errorf("record an Event on %s: %w", o, err)
	}
	return nil
}

// eventPrefix returns the prefix of an Event's name. It leaves space for the API server's suffix.
func eventPrefix(name string) string { return name[:min(len(name), 200)] + "-" }

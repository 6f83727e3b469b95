// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// controllerName is who Events and leases say wrote them.
const controllerName = "kubectl-etcd.dev/kubectl-etcd"

// maxNote is what the API server takes as an Event's note, in bytes.
const maxNote = 1024

// Announce records on a cluster's owner, as an Event, what a person did to it.
// message says who, what and why. An error means that nobody will see it there;
// it is no reason to stop.
func Announce(ctx context.Context, kube client.Client, o observe.Owner, reason policy.Reason, message string) error {
	if reason == (policy.Reason{}) {
		return fmt.Errorf("record an Event on %s: it has no reason", o)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	event := eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{GenerateName: eventPrefix(o.Name), Namespace: o.Namespace},
		EventTime:           metav1.NewMicroTime(clock.RealClock{}.Now()),
		ReportingController: controllerName, ReportingInstance: "kubectl-etcd",
		Action: reason.Name(), Reason: reason.Name(), Type: corev1.EventTypeNormal, Note: cut(message, maxNote),
		Regarding: corev1.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID},
	}
	if err := kube.Create(ctx, &event); err != nil {
		return fmt.Errorf("record an Event on %s: %w", o, err)
	}
	return nil
}

// eventPrefix leaves room for what the API server appends to it.
func eventPrefix(name string) string { return cut(name, 200) + "-" }

// cut shortens a text to that many bytes, at the end of a whole character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	sigsjson "sigs.k8s.io/json"
)

// RecordPatcher patches the objects that record evictions: disruption budgets and StatefulSets. A client is one.
type RecordPatcher interface {
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// evictionRequest is a client's request to evict a pod, or to delete one.
type evictionRequest struct {
	pod string
	// uid is of the pod that the client means, empty for whichever has the name.
	uid     types.UID
	deletes bool
	dryRun  bool
}

// what returns the request in messages, before the name of a pod.
func (r evictionRequest) what() string {
	if r.deletes {
		return "deletion of pod"
	}
	return "eviction of pod"
}

func readEviction(req admission.Request) (evictionRequest, error) {
	r := evictionRequest{pod: req.Name, deletes: req.Operation == admissionv1.Delete, dryRun: req.DryRun != nil && *req.DryRun}
	if r.deletes {
		var pod metav1.PartialObjectMetadata
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts(req.OldObject.Raw, &pod); err != nil {
			return r, err
		}
		// The deletion of a collection has the names in its objects only.
		r.pod = cmp.Or(r.pod, pod.Name)
		var options metav1.DeleteOptions
		if len(req.Options.Raw) > 0 {
			if err := sigsjson.UnmarshalCaseSensitivePreserveInts(req.Options.Raw, &options); err != nil {
				return r, err
			}
		}
		r.means(&options)
	} else {
		var e policyv1.Eviction
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, &e); err != nil {
			return r, err
		}
		// kubectl drain --dry-run=server writes it here and not into the request.
		r.dryRun = r.dryRun || e.DeleteOptions != nil && len(e.DeleteOptions.DryRun) > 0
		r.means(e.DeleteOptions)
		r.pod = cmp.Or(r.pod, e.Name)
	}
	if r.pod == "" {
		return r, errors.New("it names no pod")
	}
	return r, nil
}

// means reads which pod the client means. The API server refuses the request if another one has the
// name by now.
func (r *evictionRequest) means(options *metav1.DeleteOptions) {
	if options != nil && options.Preconditions != nil && options.Preconditions.UID != nil {
		r.uid = *options.Preconditions.UID
	}
}

// kubernetesControllers are the service accounts that delete pods for Kubernetes itself. The controllers of ReplicaSets,
// DaemonSets and Jobs are not among them: they delete running pods on behalf of a user.
var kubernetesControllers = []string{
	"statefulset-controller", "node-controller", "taint-eviction-controller", "device-taint-eviction-controller",
	"pod-garbage-collector", "generic-garbage-collector", "namespace-controller",
}

// byKubernetes reports whether one of Kubernetes' own programs makes the request.
func byKubernetes(req admission.Request) bool {
	name := req.UserInfo.Username
	if name == "system:kube-controller-manager" || name == "system:kube-scheduler" || strings.HasPrefix(name, "system:node:") {
		return true
	}
	account, ours := strings.CutPrefix(name, "system:serviceaccount:kube-system:")
	return ours && slices.Contains(kubernetesControllers, account)
}

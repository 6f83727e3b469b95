// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package kubeclient

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// knownScopes are the kinds that commands use by type, by group and version; true for
// those that belong to no namespace. Which resources serve them never changes, so
// nobody asks the API server: that would cost each command several round trips.
var knownScopes = map[schema.GroupVersion]map[string]bool{
	{Version: "v1"}: {
		"ConfigMap": false, "Event": false, "Namespace": true, "Node": true, "PersistentVolume": true, "PersistentVolumeClaim": false,
		"Pod": false, "Secret": false, "Service": false, "ServiceAccount": false,
	},
	{Group: "admissionregistration.k8s.io", Version: "v1"}:  {"MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true},
	{Group: "apps", Version: "v1"}:                          {"ControllerRevision": false, "Deployment": false, "ReplicaSet": false, "StatefulSet": false},
	{Group: "batch", Version: "v1"}:                         {"CronJob": false, "Job": false},
	{Group: "authentication.k8s.io", Version: "v1"}:         {"SelfSubjectReview": true},
	{Group: "authorization.k8s.io", Version: "v1"}:          {"SelfSubjectAccessReview": true, "SubjectAccessReview": true},
	{Group: "coordination.k8s.io", Version: "v1"}:           {"Lease": false},
	{Group: "discovery.k8s.io", Version: "v1"}:              {"EndpointSlice": false},
	{Group: "events.k8s.io", Version: "v1"}:                 {"Event": false},
	{Group: "policy", Version: "v1"}:                        {"PodDisruptionBudget": false},
	{Group: "storage.k8s.io", Version: "v1"}:                {"StorageClass": true},
	{Group: "druid.gardener.cloud", Version: "v1alpha1"}:    {"Etcd": false, "EtcdCopyBackupsTask": false, "EtcdOpsTask": false},
	{Group: "policy.kubectl-etcd.dev", Version: "v1alpha1"}: {"EtcdTopologyPolicy": true},
}

// newMapper knows the kinds of the table by heart and asks the API server for all
// others, when somebody uses them.
func newMapper(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme) (meta.RESTMapper, error) {
	others, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	byHeart := meta.NewDefaultRESTMapper(scheme.PrioritizedVersionsAllGroups())
	for gv, kinds := range knownScopes {
		for kind, global := range kinds {
			scope := meta.RESTScopeNamespace
			if global {
				scope = meta.RESTScopeRoot
			}
			byHeart.Add(gv.WithKind(kind), scope)
		}
	}
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{byHeart, others}}, nil
}

// clientOfServed says of a kind that the API server doesn't serve, a custom resource that
// nobody installed, that no resource matches it. The mapper can't.
type clientOfServed struct{ client.Client }

// List implements client.Reader. A list of what is served is never "not found".
func (s clientOfServed) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := s.Client.List(ctx, list, opts...)
	if !apierrors.IsNotFound(err) {
		return err
	}
	gvk, unknown := s.GroupVersionKindFor(list)
	if unknown != nil {
		return err
	}
	return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}

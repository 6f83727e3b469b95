// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package kubeclient

import (
	"context"
	"net/http"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// clusterScoped lists the kinds that commands use by type. The value is true for kinds without a
// namespace. Their resources never change, so no discovery is needed, which would cost each
// command several requests.
var clusterScoped = map[schema.GroupVersion]map[string]bool{
	{Version: "v1"}: {
		"ConfigMap": false, "Event": false, "Namespace": true, "Node": true, "PersistentVolume": true, "PersistentVolumeClaim": false,
		"Pod": false, "Secret": false, "Service": false, "ServiceAccount": false,
	},
	{Group: "admissionregistration.k8s.io", Version: "v1"}:  {"MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true},
	{Group: "apps", Version: "v1"}:                          {"ControllerRevision": false, "DaemonSet": false, "Deployment": false, "ReplicaSet": false, "StatefulSet": false},
	{Group: "batch", Version: "v1"}:                         {"CronJob": false, "Job": false},
	{Group: "authentication.k8s.io", Version: "v1"}:         {"SelfSubjectReview": true},
	{Group: "authorization.k8s.io", Version: "v1"}:          {"SelfSubjectAccessReview": true, "SubjectAccessReview": true},
	{Group: "coordination.k8s.io", Version: "v1"}:           {"Lease": false},
	{Group: "discovery.k8s.io", Version: "v1"}:              {"EndpointSlice": false},
	{Group: "events.k8s.io", Version: "v1"}:                 {"Event": false},
	{Group: "policy", Version: "v1"}:                        {"PodDisruptionBudget": false},
	{Group: "rbac.authorization.k8s.io", Version: "v1"}:     {"Role": false, "RoleBinding": false},
	{Group: "storage.k8s.io", Version: "v1"}:                {"StorageClass": true},
	druidv1alpha1.SchemeGroupVersion:                        {"Etcd": false, "EtcdCopyBackupsTask": false, "EtcdOpsTask": false},
	{Group: "policy.kubectl-etcd.dev", Version: "v1alpha1"}: {"EtcdTopologyPolicy": true},
}

// newMapper returns a mapper with the kinds of the table. It uses discovery for other kinds.
func newMapper(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme) (meta.RESTMapper, error) {
	dynamic, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	static := meta.NewDefaultRESTMapper(scheme.PrioritizedVersionsAllGroups())
	for gv, kinds := range clusterScoped {
		for kind, root := range kinds {
			scope := meta.RESTScopeNamespace
			if root {
				scope = meta.RESTScopeRoot
			}
			static.Add(gv.WithKind(kind), scope)
		}
	}
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{static, dynamic}}, nil
}

// noMatchClient returns NoKindMatchError for a custom resource that is not installed. The static
// mapper can't detect that.
type noMatchClient struct{ client.Client }

// List implements client.Reader. For an installed resource, a list is never "not found".
func (c noMatchClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := c.Client.List(ctx, list, opts...)
	if !apierrors.IsNotFound(err) {
		return err
	}
	gvk, unknown := c.GroupVersionKindFor(list)
	if unknown != nil {
		return err
	}
	return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}

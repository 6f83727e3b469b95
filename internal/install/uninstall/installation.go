// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// installed are the labels on everything that the manifests install. The second alone is
// also on all that etcd-druid makes for an Etcd that is called kubectl-etcd.
var installed = client.MatchingLabels{"app.kubernetes.io/name": programName, "app.kubernetes.io/part-of": "kubectl-etcd"}

// Installation has the objects of etcd-webhook in a cluster, and the objects that it changed.
// The zero value is an empty installation.
type Installation struct {
	// Webhooks are the webhook configurations.
	Webhooks []Object
	// Rights are the bindings of its roles. Programs are its Deployments.
	Rights, Programs []Object
	// Rest are all other objects, the namespace last.
	Rest []Object
	// Retained are the namespaces that are not deleted.
	Retained []RetainedNamespace
	// Policies are the EtcdTopologyPolicies. Definition is their CustomResourceDefinition.
	Policies, Definition []Object
	// Budgets are the disruption budgets that it maintains or created.
	Budgets []policyv1.PodDisruptionBudget
	// Rollouts are the StatefulSets whose rollout it holds. Judge leaves those that it releases, and moves
	// the others to Held.
	Rollouts []appsv1.StatefulSet
	Held     []HeldRollout
	// Sizes are warnings about sizes that only records of budgets have. Judge sets them.
	Sizes []string
	// Recorded are the StatefulSets with a record of evictions.
	Recorded []appsv1.StatefulSet
	// Cut are the Services whose client traffic is cut. Judge moves those that stay cut to StaysCut.
	Cut      []corev1.Service
	StaysCut []StaysCut
	// Suspended are the Etcds whose reconciliation a cut suspended.
	Suspended []Object
	// Records are the leases of clusters with the record of a cut, which may have ended.
	Records []Object
}

// programName is the program's name in the manifests.
const programName = "etcd-webhook"

// unlabelled has the names of objects without the labels, by resource. The program and
// cert-manager create them in the program's namespace.
var unlabelled = map[string][]string{
	"secrets": {"etcd-webhook-certificate", "etcd-webhook-tls", "etcd-webhook-authority"},
	"leases":  {"etcd-webhook.kubectl-etcd.dev"},
}

// unlabelled reports whether the object is one of those.
func (p Object) unlabelled() bool { return slices.Contains(unlabelled[p.Resource], p.Name) }

// lock reports whether the object is the lock of a cluster.
func (p Object) lock() bool {
	return p.Resource == "leases" && strings.HasPrefix(p.Name, lock.NamePrefix)
}

// Object is one object of an installation.
type Object struct {
	metav1.PartialObjectMetadata
	// Resource is its kind as a Role names it.
	Resource string
}

// String returns the object's name as kubectl prints it.
func (p Object) String() string {
	name := strings.ToLower(p.Kind) + "/" + p.Name
	if p.Namespace != "" {
		name += " in namespace " + p.Namespace
	}
	return name
}

// object returns the object for a request. The API server may answer a deletion with the whole
// object, which the metadata client can't decode.
func (p Object) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(p.GroupVersionKind())
	o.SetNamespace(p.Namespace)
	o.SetName(p.Name)
	return o
}

// kind is a kind of objects of the installation.
type kind struct {
	schema.GroupVersionResource
	Kind string
	// into is the list that its objects belong to.
	into func(*Installation) *[]Object
}

var (
	toWebhooks   = func(i *Installation) *[]Object { return &i.Webhooks }
	toRights     = func(i *Installation) *[]Object { return &i.Rights }
	toPrograms   = func(i *Installation) *[]Object { return &i.Programs }
	toRest       = func(i *Installation) *[]Object { return &i.Rest }
	toDefinition = func(i *Installation) *[]Object { return &i.Definition }
)

// kinds are all kinds of the manifests and the program's lease, in the order of their deletion.
// The bindings are before the Deployment. With its permissions, the program would create its
// Secret and its lease again.
var kinds = []kind{
	{v1Resource("admissionregistration.k8s.io", "mutatingwebhookconfigurations"), "MutatingWebhookConfiguration", toWebhooks},
	{v1Resource("admissionregistration.k8s.io", "validatingwebhookconfigurations"), "ValidatingWebhookConfiguration", toWebhooks},
	{v1Resource("rbac.authorization.k8s.io", "clusterrolebindings"), "ClusterRoleBinding", toRights},
	{v1Resource("rbac.authorization.k8s.io", "rolebindings"), "RoleBinding", toRights},
	{v1Resource("apps", "deployments"), "Deployment", toPrograms},
	// After the bindings: until then, it limits what they allow.
	{v1Resource("admissionregistration.k8s.io", "validatingadmissionpolicybindings"), "ValidatingAdmissionPolicyBinding", toRest},
	{v1Resource("admissionregistration.k8s.io", "validatingadmissionpolicies"), "ValidatingAdmissionPolicy", toRest},
	{v1Resource("rbac.authorization.k8s.io", "clusterroles"), "ClusterRole", toRest},
	{v1Resource("rbac.authorization.k8s.io", "roles"), "Role", toRest},
	{v1Resource("monitoring.coreos.com", "servicemonitors"), "ServiceMonitor", toRest},
	{v1Resource("monitoring.coreos.com", "prometheusrules"), "PrometheusRule", toRest},
	{v1Resource("cert-manager.io", "certificates"), "Certificate", toRest},
	{v1Resource("cert-manager.io", "issuers"), "Issuer", toRest},
	{v1Resource("policy", "poddisruptionbudgets"), "PodDisruptionBudget", toRest},
	{v1Resource("networking.k8s.io", "networkpolicies"), "NetworkPolicy", toRest},
	{v1Resource("", "services"), "Service", toRest},
	{v1Resource("", "secrets"), "Secret", toRest},
	{v1Resource("coordination.k8s.io", "leases"), "Lease", toRest},
	{v1Resource("", "configmaps"), "ConfigMap", toRest},
	{v1Resource("", "serviceaccounts"), "ServiceAccount", toRest},
	{v1Resource("scheduling.k8s.io", "priorityclasses"), "PriorityClass", toRest},
	{v1Resource("", "namespaces"), "Namespace", toRest},
	{v1Resource("apiextensions.k8s.io", "customresourcedefinitions"), "CustomResourceDefinition", toDefinition},
}

// v1Resource returns a resource of version v1 of a group.
func v1Resource(group, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: name}
}

// FindNeeds returns the permissions that Find needs.
func FindNeeds() []operate.Need {
	needs := []operate.Need{
		{Verb: "list", Resource: "services"},
		{Verb: "list", Group: policyv1.GroupName, Resource: "poddisruptionbudgets"},
		{Verb: "list", Group: appsv1.GroupName, Resource: "statefulsets"},
		{Verb: "list", Group: v1alpha1.GroupVersion.Group, Resource: "etcdtopologypolicies"},
		{Verb: "list", Group: druidv1alpha1.SchemeGroupVersion.Group, Resource: "etcds"},
	}
	for _, k := range kinds {
		need := operate.Need{Verb: "list", Group: k.Group, Resource: k.Resource}
		if !slices.Contains(needs, need) {
			needs = append(needs, need)
		}
	}
	return needs
}

// Find searches the whole cluster for the installation, by the labels of the manifests and by
// the annotations that the program and cuts of client traffic write.
func Find(ctx context.Context, kube client.Client, inventory NamespaceInventory) (*Installation, error) {
	found := &Installation{}
	for _, k := range kinds {
		objects, err := k.find(ctx, kube, installed)
		if err != nil {
			return nil, err
		}
		into := k.into(found)
		*into = append(*into, objects...)
	}
	if err := found.splitNamespaces(ctx, kube, inventory); err != nil {
		return nil, err
	}
	policies := kind{GroupVersionResource: v1alpha1.GroupVersion.WithResource("etcdtopologypolicies"), Kind: "EtcdTopologyPolicy"}
	var err error
	if found.Policies, err = policies.find(ctx, kube); err != nil {
		return nil, err
	}
	if found.Budgets, err = heldBudgets(ctx, kube); err != nil {
		return nil, err
	}
	if found.Rollouts, err = heldRollouts(ctx, kube); err != nil {
		return nil, err
	}
	if found.Recorded, err = recordedSets(ctx, kube); err != nil {
		return nil, err
	}
	if found.Cut, err = cutServices(ctx, kube); err != nil {
		return nil, err
	}
	if found.Suspended, err = suspendedEtcds(ctx, kube); err != nil {
		return nil, err
	}
	found.Records, err = cutRecords(ctx, kube)
	return found, err
}

// find lists the objects of a kind. The list is empty if the API server doesn't serve the kind.
func (k kind) find(ctx context.Context, kube client.Client, options ...client.ListOption) ([]Object, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	if err := kube.List(ctx, &list, options...); err != nil && !meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("list %s: %w", k.Resource, err)
	}
	var objects []Object
	for _, o := range list.Items {
		o.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind))
		objects = append(objects, Object{PartialObjectMetadata: o, Resource: k.Resource})
	}
	return objects, nil
}

// Empty reports whether there is no object of the installation and none that it changed. Rollouts that
// stay held and Services that stay cut don't count.
func (i *Installation) Empty() bool {
	return len(i.Webhooks)+len(i.Rights)+len(i.Programs)+len(i.Rest)+len(i.Budgets)+len(i.Rollouts)+len(i.Recorded)+len(i.Cut)+len(i.Suspended)+len(i.Records) == 0
}

// heldBudgets returns the budgets with a record of etcd-webhook, and those that it created.
func heldBudgets(ctx context.Context, kube client.Client, options ...client.ListOption) ([]policyv1.PodDisruptionBudget, error) {
	var all policyv1.PodDisruptionBudgetList
	if err := kube.List(ctx, &all, options...); err != nil {
		return nil, fmt.Errorf("list budgets: %w", err)
	}
	return slices.DeleteFunc(all.Items, func(pdb policyv1.PodDisruptionBudget) bool {
		// Admission records evictions also on a budget that this project doesn't keep.
		keys := append(annotation.BudgetAnnotations(), v1alpha1.EvictionsAnnotation)
		recorded := slices.ContainsFunc(keys, func(key string) bool {
			_, has := pdb.Annotations[key]
			return has
		})
		return pdb.DeletionTimestamp != nil || !recorded && !observe.Ours(&pdb)
	}), nil
}

func cutServices(ctx context.Context, kube client.Client) ([]corev1.Service, error) {
	var all corev1.ServiceList
	if err := kube.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("list Services: %w", err)
	}
	return slices.DeleteFunc(all.Items, func(s corev1.Service) bool {
		_, cut := s.Spec.Selector[v1alpha1.ClientTrafficKey]
		return !cut || s.DeletionTimestamp != nil
	}), nil
}

// names returns the names of at most six objects, and the number of the others.
func names(objects []Object) string {
	const most = 6
	var all []string
	for _, p := range objects {
		all = append(all, p.String())
	}
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	return cmp.Or(strings.Join(all, ", "), "nothing")
}

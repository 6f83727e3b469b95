// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
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

// Installation is what there is of etcd-webhook in a cluster, and what it holds
// there. Its zero value is nothing at all.
type Installation struct {
	// Webhooks are the configurations by which the API server calls it.
	Webhooks []Object
	// Rights are what lets it write, Programs what runs it.
	Rights, Programs []Object
	// Rest is everything else, its namespace last.
	Rest []Object
	// Retained are the namespaces of it that stay.
	Retained []RetainedNamespace
	// Policies are the EtcdTopologyPolicies, Definition their definition.
	Policies, Definition []Object
	// Budgets are those that it keeps or made.
	Budgets []policyv1.PodDisruptionBudget
	// Cut are the Services whose client traffic is cut.
	Cut []corev1.Service
	// Suspended are the Etcds that etcd-druid leaves alone because of a cut.
	Suspended []Object
	// Records are the leases of clusters by which cuts were made, which may have ended.
	Records []Object
}

// programName is what the manifests call the program.
const programName = "etcd-webhook"

// unlabelled are the names, by their resource, of what comes into its namespace without
// the label: the program and cert-manager make it.
var unlabelled = map[string][]string{
	"secrets": {"etcd-webhook-certificate", "etcd-webhook-tls", "etcd-webhook-authority"},
	"leases":  {"etcd-webhook.kubectl-etcd.dev"},
}

// unlabelled says that the piece is one of those.
func (p Object) unlabelled() bool { return slices.Contains(unlabelled[p.Resource], p.Name) }

// lock says that the piece is a cluster's lock.
func (p Object) lock() bool {
	return p.Resource == "leases" && strings.HasPrefix(p.Name, lock.NamePrefix)
}

// Object is one object of an installation.
type Object struct {
	metav1.PartialObjectMetadata
	// Resource is what a Role calls its kind.
	Resource string
}

// String names the piece as kubectl does.
func (p Object) String() string {
	name := strings.ToLower(p.Kind) + "/" + p.Name
	if p.Namespace != "" {
		name += " in namespace " + p.Namespace
	}
	return name
}

// object is the piece for a request about it: what the API server answers to a
// deletion may be the object, which the client for metadata can't read.
func (p Object) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(p.GroupVersionKind())
	o.SetNamespace(p.Namespace)
	o.SetName(p.Name)
	return o
}

// kind is a kind of pieces.
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

// kinds are all that a folder of manifests may hold, and the program's lease, in the
// order in which they go. All bindings go before the program: with its rights it would
// write its Secret and its lease once more.
var kinds = []kind{
	{v1Resource("admissionregistration.k8s.io", "mutatingwebhookconfigurations"), "MutatingWebhookConfiguration", toWebhooks},
	{v1Resource("admissionregistration.k8s.io", "validatingwebhookconfigurations"), "ValidatingWebhookConfiguration", toWebhooks},
	{v1Resource("rbac.authorization.k8s.io", "clusterrolebindings"), "ClusterRoleBinding", toRights},
	{v1Resource("rbac.authorization.k8s.io", "rolebindings"), "RoleBinding", toRights},
	{v1Resource("apps", "deployments"), "Deployment", toPrograms},
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

// resource is one of a group's version v1.
func v1Resource(group, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: name}
}

// FindNeeds are the permissions that Find uses.
func FindNeeds() []operate.Need {
	needs := []operate.Need{
		{Verb: "list", Resource: "services"},
		{Verb: "list", Group: policyv1.GroupName, Resource: "poddisruptionbudgets"},
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

// Find looks for all of it in the whole cluster, by the labels that the
// manifests carry and by the marks that the program and cuts of client traffic leave.
func Find(ctx context.Context, kube client.Client, census NamespaceInventory) (*Installation, error) {
	found := &Installation{}
	for _, k := range kinds {
		pieces, err := k.find(ctx, kube, installed)
		if err != nil {
			return nil, err
		}
		into := k.into(found)
		*into = append(*into, pieces...)
	}
	if err := found.splitNamespaces(ctx, kube, census); err != nil {
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
	if found.Cut, err = cutServices(ctx, kube); err != nil {
		return nil, err
	}
	if found.Suspended, err = suspendedEtcds(ctx, kube); err != nil {
		return nil, err
	}
	found.Records, err = cutRecords(ctx, kube)
	return found, err
}

// find lists the objects of a kind, none where it is not served.
func (k kind) find(ctx context.Context, kube client.Client, options ...client.ListOption) ([]Object, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	if err := kube.List(ctx, &list, options...); err != nil && !meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("list %s: %w", k.Resource, err)
	}
	var pieces []Object
	for _, o := range list.Items {
		o.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind))
		pieces = append(pieces, Object{PartialObjectMetadata: o, Resource: k.Resource})
	}
	return pieces, nil
}

// Empty says that there is nothing of it, and nothing that it holds.
func (i *Installation) Empty() bool {
	return len(i.Webhooks)+len(i.Rights)+len(i.Programs)+len(i.Rest)+len(i.Budgets)+len(i.Cut)+len(i.Suspended)+len(i.Records) == 0
}

// heldBudgets are those with our record on them, and those that we made.
func heldBudgets(ctx context.Context, kube client.Client) ([]policyv1.PodDisruptionBudget, error) {
	var all policyv1.PodDisruptionBudgetList
	if err := kube.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("list budgets: %w", err)
	}
	return slices.DeleteFunc(all.Items, func(pdb policyv1.PodDisruptionBudget) bool {
		recorded := slices.ContainsFunc(annotation.BudgetAnnotations(), func(key string) bool {
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

// names are the pieces in a sentence, a few of them.
func names(pieces []Object) string {
	const most = 6
	var all []string
	for _, p := range pieces {
		all = append(all, p.String())
	}
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	return cmp.Or(strings.Join(all, ", "), "nothing")
}

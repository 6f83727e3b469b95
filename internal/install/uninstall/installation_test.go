// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	clientrest "k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

const space = "team-infra"

// TestRetainedNamespace checks which namespaces are deleted. In a retained namespace, every
// object is deleted by itself, in the order of the kinds.
func TestRetainedNamespace(t *testing.T) {
	t.Parallel()
	const foreign = " in it does not belong to etcd-webhook. To delete it with all its objects: kubectl delete namespace team-infra"
	for _, row := range []struct {
		name   string
		change func(*server)
		// retained begins with why the namespace is not deleted. It is empty if it is deleted.
		retained string
	}{
		{name: "nothing of others", change: func(*server) {}},
		{name: "a ConfigMap", change: func(s *server) { s.put("configmaps", "settings") }, retained: "configmap/settings" + foreign},
		{name: "a Pod", change: func(s *server) { s.put("pods", "db-0") }, retained: "pod/db-0" + foreign},
		{name: "a custom resource", change: func(s *server) { s.put("widgets.example.com", "w") }, retained: "widget/w" + foreign},
		{name: "another's ServiceAccount", change: func(s *server) { s.put("serviceaccounts", "builder") }, retained: "serviceaccount/builder" + foreign},
		{name: "another's lease", change: func(s *server) { s.put("leases.coordination.k8s.io", "db") }, retained: "lease/db" + foreign},
		{name: "etcd-druid's for an Etcd called kubectl-etcd", change: func(s *server) {
			s.put("services", "kubectl-etcd-client").Labels = map[string]string{
				"app.kubernetes.io/name": "kubectl-etcd-client", "app.kubernetes.io/part-of": "kubectl-etcd", "app.kubernetes.io/managed-by": "etcd-druid",
			}
		}, retained: "service/kubectl-etcd-client" + foreign},
		{name: "what is owned by another, too", change: func(s *server) {
			s.put("configmaps", "shared").OwnerReferences = []metav1.OwnerReference{{UID: "deployments.apps/etcd-webhook"}, {UID: "elsewhere"}}
		}, retained: "configmap/shared" + foreign},
		{name: "many", change: func(s *server) {
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				s.put("configmaps", name)
			}
		}, retained: "configmap/a, configmap/b, configmap/c, 2 more in it do not belong to etcd-webhook"},
		{name: "no permission for a list", change: func(s *server) { s.failing["widgets.example.com"] = http.StatusForbidden },
			retained: "its objects can't all be listed (list widgets.example.com: "},
		{name: "a list without an answer", change: func(s *server) { s.failing["widgets.example.com"] = http.StatusServiceUnavailable },
			retained: "its objects can't all be listed (list widgets.example.com: "},
		{name: "a group without a server", change: func(s *server) { s.failing["example.com/v1"] = http.StatusServiceUnavailable },
			retained: "its objects can't all be listed (list the kinds of the API server: "},
		{name: "a definition that was deleted meanwhile", change: func(s *server) { s.failing["widgets.example.com"] = http.StatusNotFound }},
		{name: "a namespace that is already being deleted", change: func(s *server) {
			s.put("configmaps", "settings")
			s.objects["namespaces"][0].DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newServer()
			row.change(s)
			kube, inventory := s.serve(t)
			found, err := Find(t.Context(), kube, inventory)
			if err != nil {
				t.Fatal(err)
			}
			if row.retained == "" {
				if diff := cmp.Diff([]string{"namespace/team-infra"}, objectNames(found.Rest)); diff != "" || len(found.Retained) > 0 || len(found.Rights) > 0 {
					t.Errorf("the namespace and its objects must be deleted: %s retained %v, rights %v", diff, found.Retained, found.Rights)
				}
				return
			}
			objects := []string{"service/etcd-webhook", "secret/etcd-webhook-certificate", "lease/etcd-webhook.kubectl-etcd.dev", "serviceaccount/etcd-webhook"}
			if diff := cmp.Diff(objects, objectNames(found.Rest)); diff != "" {
				t.Errorf("the objects in it: %s", diff)
			}
			if diff := cmp.Diff([]string{"rolebinding/etcd-webhook-leader-election"}, objectNames(found.Rights)); diff != "" {
				t.Errorf("the rights in it: %s", diff)
			}
			facts := strings.Join((&Uninstaller{}).Plan(found).Facts, "\n")
			if want := "namespace/team-infra is not deleted, and keeps the labels of the manifests: " + row.retained; !strings.Contains(facts, want) {
				t.Errorf("the plan has\n%s\nwant\n%s", facts, want)
			}
		})
	}
}

// TestWithoutItsNamespace checks an overlay without the Namespace. The objects that the program
// created are deleted with the others.
func TestWithoutItsNamespace(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.objects["namespaces"][0].Labels = nil
	s.put("configmaps", "settings")
	kube, inventory := s.serve(t)
	found, err := Find(t.Context(), kube, inventory)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"service/etcd-webhook", "secret/etcd-webhook-certificate", "lease/etcd-webhook.kubectl-etcd.dev", "serviceaccount/etcd-webhook"}
	if diff := cmp.Diff(want, objectNames(found.Rest)); diff != "" || len(found.Retained) > 0 {
		t.Errorf("%s retained %v", diff, found.Retained)
	}
	needs := (&Uninstaller{}).Needs(found)
	if need := (operate.Need{Verb: "delete", Resource: "secrets", Namespace: space, Name: "etcd-webhook-certificate"}); !slices.Contains(needs, need) {
		t.Errorf("the permission %s is not checked", need)
	}
}

// TestRecordOfEndedCut checks that the record of a cut that has ended is deleted, in every
// namespace, and that other leases are not.
func TestRecordOfEndedCut(t *testing.T) {
	t.Parallel()
	s := newServer()
	lease := s.put("leases.coordination.k8s.io", "kubectl-etcd-statefulset-db")
	lease.Namespace, lease.Annotations = "team-a", map[string]string{v1alpha1.ClientTrafficKey: "{}"}
	restoring := s.put("leases.coordination.k8s.io", "kubectl-etcd-etcd-main")
	restoring.Namespace, restoring.Annotations = "team-b", map[string]string{lock.OperationAnnotation: traffic.RestoreOperation}
	scaling := s.put("leases.coordination.k8s.io", "kubectl-etcd-etcd-other")
	scaling.Namespace, scaling.Annotations = "team-b", map[string]string{lock.OperationAnnotation: "scale"}
	s.put("secrets", "etcd-webhook-tls").Namespace = "team-a"
	kube, inventory := s.serve(t)
	found, err := Find(t.Context(), kube, inventory)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lease/kubectl-etcd-statefulset-db", "lease/kubectl-etcd-etcd-main"}, objectNames(found.Records)); diff != "" {
		t.Error(diff)
	}
	if need := (operate.Need{Verb: "delete", Group: "coordination.k8s.io", Resource: "leases", Namespace: "team-a", Name: "kubectl-etcd-statefulset-db"}); !slices.Contains((&Uninstaller{}).Needs(found), need) {
		t.Errorf("the permission %s is not checked", need)
	}
}

// TestNamespaceChangesAfterPlan checks that the namespace is not deleted if it has got other
// objects since the plan. Objects of the program without an owner don't count.
func TestNamespaceChangesAfterPlan(t *testing.T) {
	t.Parallel()
	s := newServer()
	kube, inventory := s.serve(t)
	found, err := Find(t.Context(), kube, inventory)
	if err != nil {
		t.Fatal(err)
	}
	u := &Uninstaller{Kube: kube, Inventory: inventory}
	s.objects["deployments.apps"] = nil
	if err := u.recheckNamespaces(t.Context(), found); err != nil {
		t.Error(err)
	}
	if again, err := Find(t.Context(), kube, inventory); err != nil || len(again.Retained) > 0 {
		t.Errorf("without the Deployment: %v, retained %v", err, again.Retained)
	}
	s.put("pods", "db-0")
	if err := u.recheckNamespaces(t.Context(), found); err == nil || !strings.Contains(err.Error(), "pod/db-0 in it does not belong to etcd-webhook") {
		t.Errorf("with another pod in it: %v", err)
	}
}

func objectNames(objects []Object) []string {
	var all []string
	for _, p := range objects {
		p.Namespace = ""
		all = append(all, p.String())
	}
	return all
}

// server is an API server with objects by resource.
type server struct {
	objects map[string][]metav1.PartialObjectMetadata
	// failing has the status code for resources and groups that it answers with an error.
	failing map[string]int
}

// served has the kinds by resource, all in version v1.
var served = map[string]string{
	"namespaces": "Namespace", "pods": "Pod", "services": "Service", "secrets": "Secret", "configmaps": "ConfigMap", "serviceaccounts": "ServiceAccount",
	"events": "Event", "deployments.apps": "Deployment", "replicasets.apps": "ReplicaSet", "leases.coordination.k8s.io": "Lease",
	"statefulsets.apps": "StatefulSet", "rolebindings.rbac.authorization.k8s.io": "RoleBinding", "poddisruptionbudgets.policy": "PodDisruptionBudget",
	"endpointslices.discovery.k8s.io": "EndpointSlice", "widgets.example.com": "Widget", "pods.metrics.k8s.io": "PodMetrics",
}

// newServer returns a server with etcd-webhook in a namespace, and the objects that Kubernetes
// adds.
func newServer() *server {
	s := &server{objects: map[string][]metav1.PartialObjectMetadata{}, failing: map[string]int{}}
	for resource, name := range map[string]string{
		"namespaces": space, "services": "etcd-webhook", "serviceaccounts": "etcd-webhook", "deployments.apps": "etcd-webhook",
		"rolebindings.rbac.authorization.k8s.io": "etcd-webhook-leader-election",
	} {
		s.put(resource, name).Labels = map[string]string{"app.kubernetes.io/name": "etcd-webhook", "app.kubernetes.io/part-of": "kubectl-etcd"}
	}
	for _, made := range []struct{ resource, name, owner string }{
		{"secrets", "etcd-webhook-certificate", ""}, {"leases.coordination.k8s.io", "etcd-webhook.kubectl-etcd.dev", ""},
		{"leases.coordination.k8s.io", "kubectl-etcd-statefulset-gone", ""}, {"serviceaccounts", "default", ""}, {"configmaps", "kube-root-ca.crt", ""},
		{"events", "etcd-webhook.1", ""}, {"pods.metrics.k8s.io", "etcd-webhook-a", ""},
		{"replicasets.apps", "etcd-webhook-6d4f", "deployments.apps/etcd-webhook"}, {"pods", "etcd-webhook-6d4f-a", "replicasets.apps/etcd-webhook-6d4f"},
		{"endpointslices.discovery.k8s.io", "etcd-webhook-x", "services/etcd-webhook"},
	} {
		o := s.put(made.resource, made.name)
		if made.owner != "" {
			o.OwnerReferences = []metav1.OwnerReference{{UID: types.UID(made.owner)}}
		}
		if made.resource == "replicasets.apps" || made.resource == "pods" {
			o.Labels = map[string]string{"app.kubernetes.io/name": "etcd-webhook"}
		}
	}
	return s
}

// put adds an object in the namespace, or the namespace itself.
func (s *server) put(resource, name string) *metav1.PartialObjectMetadata {
	o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: types.UID(resource + "/" + name)}}
	if resource == "namespaces" {
		o.Namespace = ""
	}
	s.objects[resource] = append(s.objects[resource], o)
	return &s.objects[resource][len(s.objects[resource])-1]
}

func (s *server) serve(t *testing.T) (client.Client, NamespaceInventory) {
	t.Helper()
	endpoint := httptest.NewServer(s)
	t.Cleanup(endpoint.Close)
	config := &clientrest.Config{Host: endpoint.URL}
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	groups, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return kube, NamespaceInventory{Served: groups, Objects: objects}
}

// ServeHTTP answers requests for the kinds and for lists.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group := ""
	if parts[0] == "apis" && len(parts) > 1 {
		group, parts = parts[1], parts[1:]
	}
	switch {
	case r.URL.Path == "/api":
		reply(w, metav1.APIVersions{Versions: []string{"v1"}})
	case r.URL.Path == "/apis":
		reply(w, groupsServed())
	case len(parts) == 2:
		if code := s.failing[path.Join(group, "v1")]; code != 0 {
			w.WriteHeader(code)
			return
		}
		reply(w, resourcesServed(group))
	default:
		s.list(w, r, strings.TrimSuffix(parts[len(parts)-1]+"."+group, "."))
	}
}

func (s *server) list(w http.ResponseWriter, r *http.Request, resource string) {
	if code := s.failing[resource]; code != 0 {
		w.WriteHeader(code)
		return
	}
	list := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}}
	selected, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, o := range s.objects[resource] {
		if !selected.Matches(labels.Set(o.Labels)) {
			continue
		}
		o.TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}
		list.Items = append(list.Items, o)
	}
	if !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") { // a request for whole objects
		list.TypeMeta = metav1.TypeMeta{APIVersion: path.Join(groupOf(resource), "v1"), Kind: served[resource] + "List"}
		for i := range list.Items {
			list.Items[i].TypeMeta = metav1.TypeMeta{}
		}
	}
	reply(w, list)
}

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client reports it
}

func groupOf(resource string) string {
	_, group, _ := strings.Cut(resource, ".")
	return group
}

func groupsServed() metav1.APIGroupList {
	var list metav1.APIGroupList
	for resource := range served {
		group := groupOf(resource)
		if group == "" || slices.ContainsFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == group }) {
			continue
		}
		v1 := metav1.GroupVersionForDiscovery{GroupVersion: group + "/v1", Version: "v1"}
		list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v1}, PreferredVersion: v1})
	}
	return list
}

func resourcesServed(group string) metav1.APIResourceList {
	list := metav1.APIResourceList{GroupVersion: path.Join(group, "v1")}
	for resource, kind := range served {
		if groupOf(resource) != group {
			continue
		}
		verbs := metav1.Verbs{"get", "list", "delete"}
		if group == "metrics.k8s.io" {
			verbs = verbs[:2]
		}
		name, _, _ := strings.Cut(resource, ".")
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name, Kind: kind, Namespaced: resource != "namespaces", Verbs: verbs})
	}
	return list
}

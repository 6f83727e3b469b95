// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

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

// TestNamespaceIsSpared holds which namespaces go, and that in one that stays every
// piece goes by itself, at its turn.
func TestNamespaceIsSpared(t *testing.T) {
	t.Parallel()
	const foreign = " in it is not etcd-webhook's; where nobody needs what lives there: kubectl delete namespace team-infra"
	for _, row := range []struct {
		name   string
		change func(*shelf)
		// spared begins with why the namespace stays, empty where it goes.
		spared string
	}{
		{name: "nothing of others", change: func(*shelf) {}},
		{name: "a ConfigMap", change: func(s *shelf) { s.put("configmaps", "settings") }, spared: "configmap/settings" + foreign},
		{name: "a Pod", change: func(s *shelf) { s.put("pods", "db-0") }, spared: "pod/db-0" + foreign},
		{name: "a custom resource", change: func(s *shelf) { s.put("widgets.example.com", "w") }, spared: "widget/w" + foreign},
		{name: "another's ServiceAccount", change: func(s *shelf) { s.put("serviceaccounts", "builder") }, spared: "serviceaccount/builder" + foreign},
		{name: "another's lease", change: func(s *shelf) { s.put("leases.coordination.k8s.io", "db") }, spared: "lease/db" + foreign},
		{name: "etcd-druid's for an Etcd called kubectl-etcd", change: func(s *shelf) {
			s.put("services", "kubectl-etcd-client").Labels = map[string]string{
				"app.kubernetes.io/name": "kubectl-etcd-client", "app.kubernetes.io/part-of": "kubectl-etcd", "app.kubernetes.io/managed-by": "etcd-druid",
			}
		}, spared: "service/kubectl-etcd-client" + foreign},
		{name: "what is owned by another, too", change: func(s *shelf) {
			s.put("configmaps", "shared").OwnerReferences = []metav1.OwnerReference{{UID: "deployments.apps/etcd-webhook"}, {UID: "elsewhere"}}
		}, spared: "configmap/shared" + foreign},
		{name: "many", change: func(s *shelf) {
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				s.put("configmaps", name)
			}
		}, spared: "configmap/a, configmap/b, configmap/c, 2 more in it are not etcd-webhook's"},
		{name: "one may not look", change: func(s *shelf) { s.silent["widgets.example.com"] = http.StatusForbidden },
			spared: "whether all in it is of etcd-webhook can't be seen (list widgets.example.com: "},
		{name: "a list that nobody answers", change: func(s *shelf) { s.silent["widgets.example.com"] = http.StatusServiceUnavailable },
			spared: "whether all in it is of etcd-webhook can't be seen (list widgets.example.com: "},
		{name: "a group that nobody serves", change: func(s *shelf) { s.silent["example.com/v1"] = http.StatusServiceUnavailable },
			spared: "whether all in it is of etcd-webhook can't be seen (ask which kinds there are: "},
		{name: "a definition that went meanwhile", change: func(s *shelf) { s.silent["widgets.example.com"] = http.StatusNotFound }},
		{name: "what is going has been decided about", change: func(s *shelf) {
			s.put("configmaps", "settings")
			s.objects["namespaces"][0].DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := installedShelf()
			row.change(s)
			kube, census := s.serve(t)
			found, err := Find(t.Context(), kube, census)
			if err != nil {
				t.Fatal(err)
			}
			if row.spared == "" {
				if diff := cmp.Diff([]string{"namespace/team-infra"}, said(found.Rest)); diff != "" || len(found.Retained) > 0 || len(found.Rights) > 0 {
					t.Errorf("the namespace must go, and all with it: %s spared %v, rights %v", diff, found.Retained, found.Rights)
				}
				return
			}
			singly := []string{"service/etcd-webhook", "secret/etcd-webhook-certificate", "lease/etcd-webhook.kubectl-etcd.dev", "serviceaccount/etcd-webhook"}
			if diff := cmp.Diff(singly, said(found.Rest)); diff != "" {
				t.Errorf("the pieces in it: %s", diff)
			}
			if diff := cmp.Diff([]string{"rolebinding/etcd-webhook-leader-election"}, said(found.Rights)); diff != "" {
				t.Errorf("the rights in it: %s", diff)
			}
			facts := strings.Join((&Uninstall{}).Plan(found).Facts, "\n")
			if want := "namespace/team-infra stays, with the labels that the manifests put on it: " + row.spared; !strings.Contains(facts, want) {
				t.Errorf("the plan says\n%s\nwant\n%s", facts, want)
			}
		})
	}
}

// TestWithoutItsNamespace: where the overlay leaves out the Namespace, what the program
// made goes with the rest.
func TestWithoutItsNamespace(t *testing.T) {
	t.Parallel()
	s := installedShelf()
	s.objects["namespaces"][0].Labels = nil
	s.put("configmaps", "settings")
	kube, census := s.serve(t)
	found, err := Find(t.Context(), kube, census)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"service/etcd-webhook", "secret/etcd-webhook-certificate", "lease/etcd-webhook.kubectl-etcd.dev", "serviceaccount/etcd-webhook"}
	if diff := cmp.Diff(want, said(found.Rest)); diff != "" || len(found.Retained) > 0 {
		t.Errorf("%s spared %v", diff, found.Retained)
	}
	needs := (&Uninstall{}).Needs(found)
	if need := (operate.Need{Verb: "delete", Resource: "secrets", Namespace: space, Name: "etcd-webhook-certificate"}); !slices.Contains(needs, need) {
		t.Errorf("nobody asks for %s", need)
	}
}

// TestEndedCutIsForgotten: what a cut that has ended left behind goes as well, in whatever
// namespace, and nothing else of what is there.
func TestEndedCutIsForgotten(t *testing.T) {
	t.Parallel()
	s := installedShelf()
	lease := s.put("leases.coordination.k8s.io", "kubectl-etcd-statefulset-db")
	lease.Namespace, lease.Annotations = "team-a", map[string]string{v1alpha1.ClientTrafficKey: "{}"}
	restoring := s.put("leases.coordination.k8s.io", "kubectl-etcd-etcd-main")
	restoring.Namespace, restoring.Annotations = "team-b", map[string]string{lock.OperationAnnotation: traffic.RestoreOperation}
	scaling := s.put("leases.coordination.k8s.io", "kubectl-etcd-etcd-other")
	scaling.Namespace, scaling.Annotations = "team-b", map[string]string{lock.OperationAnnotation: "scale"}
	s.put("secrets", "etcd-webhook-tls").Namespace = "team-a"
	kube, census := s.serve(t)
	found, err := Find(t.Context(), kube, census)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lease/kubectl-etcd-statefulset-db", "lease/kubectl-etcd-etcd-main"}, said(found.Records)); diff != "" {
		t.Error(diff)
	}
	if need := (operate.Need{Verb: "delete", Group: "coordination.k8s.io", Resource: "leases", Namespace: "team-a", Name: "kubectl-etcd-statefulset-db"}); !slices.Contains((&Uninstall{}).Needs(found), need) {
		t.Errorf("nobody asks for %s", need)
	}
}

// TestSomebodyMovesIn: what has come into the namespace since the plan was made keeps
// it from being deleted. What the program leaves without an owner doesn't.
func TestSomebodyMovesIn(t *testing.T) {
	t.Parallel()
	s := installedShelf()
	kube, census := s.serve(t)
	found, err := Find(t.Context(), kube, census)
	if err != nil {
		t.Fatal(err)
	}
	u := &Uninstall{Kube: kube, Inventory: census}
	s.objects["deployments.apps"] = nil
	if err := u.recheckNamespaces(t.Context(), found); err != nil {
		t.Error(err)
	}
	if again, err := Find(t.Context(), kube, census); err != nil || len(again.Retained) > 0 {
		t.Errorf("asked again after its Deployment went: %v, spared %v", err, again.Retained)
	}
	s.put("pods", "db-0")
	if err := u.recheckNamespaces(t.Context(), found); err == nil || !strings.Contains(err.Error(), "pod/db-0 in it is not etcd-webhook's") {
		t.Errorf("somebody's pod is there, and it says %v", err)
	}
}

func said(pieces []Object) []string {
	var all []string
	for _, p := range pieces {
		p.Namespace = ""
		all = append(all, p.String())
	}
	return all
}

// shelf is what an API server has, by the resource.
type shelf struct {
	objects map[string][]metav1.PartialObjectMetadata
	// silent are the resources and groups that it answers with an error instead.
	silent map[string]int
}

// served are the kinds there are, by their resource; all in version v1.
var served = map[string]string{
	"namespaces": "Namespace", "pods": "Pod", "services": "Service", "secrets": "Secret", "configmaps": "ConfigMap", "serviceaccounts": "ServiceAccount",
	"events": "Event", "deployments.apps": "Deployment", "replicasets.apps": "ReplicaSet", "leases.coordination.k8s.io": "Lease",
	"rolebindings.rbac.authorization.k8s.io": "RoleBinding", "poddisruptionbudgets.policy": "PodDisruptionBudget",
	"endpointslices.discovery.k8s.io": "EndpointSlice", "widgets.example.com": "Widget", "pods.metrics.k8s.io": "PodMetrics",
}

// installedShelf has etcd-webhook in the namespace, which Kubernetes has added to.
func installedShelf() *shelf {
	s := &shelf{objects: map[string][]metav1.PartialObjectMetadata{}, silent: map[string]int{}}
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

// put adds an object that is in the namespace, or is it.
func (s *shelf) put(resource, name string) *metav1.PartialObjectMetadata {
	o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: types.UID(resource + "/" + name)}}
	if resource == "namespaces" {
		o.Namespace = ""
	}
	s.objects[resource] = append(s.objects[resource], o)
	return &s.objects[resource][len(s.objects[resource])-1]
}

func (s *shelf) serve(t *testing.T) (client.Client, NamespaceInventory) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	config := &clientrest.Config{Host: server.URL}
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

// ServeHTTP answers what an API server is asked for its kinds and for lists.
func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		if code := s.silent[path.Join(group, "v1")]; code != 0 {
			w.WriteHeader(code)
			return
		}
		reply(w, resourcesServed(group))
	default:
		s.list(w, r, strings.TrimSuffix(parts[len(parts)-1]+"."+group, "."))
	}
}

func (s *shelf) list(w http.ResponseWriter, r *http.Request, resource string) {
	if code := s.silent[resource]; code != 0 {
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
	if !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") { // read whole
		list.TypeMeta = metav1.TypeMeta{APIVersion: path.Join(groupOf(resource), "v1"), Kind: served[resource] + "List"}
		for i := range list.Items {
			list.Items[i].TypeMeta = metav1.TypeMeta{}
		}
	}
	reply(w, list)
}

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asked sees it
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

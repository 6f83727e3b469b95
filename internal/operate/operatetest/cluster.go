// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operatetest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
)

//go:embed cluster.yaml
var objects string

// Cluster is the StatefulSet team/main with three members in memory, which no operator
// manages.
type Cluster struct {
	*apitest.Server

	Etcd *etcdtest.Cluster
	// Restarted are the pods that a rollout has restarted.
	Restarted []string
}

// NewCluster returns a cluster that is healthy.
func NewCluster(t *testing.T) *Cluster {
	t.Helper()
	c := &Cluster{Server: apitest.New(t), Etcd: etcdtest.New(t, "main-0", "main-1", "main-2")}
	c.Dial = c.Etcd.Dial
	for document := range strings.SplitSeq(objects, "\n---\n") {
		var o apitest.Object
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		c.Create(o)
	}
	for i := range 5 {
		name := fmt.Sprintf("node-%d", i)
		c.Create(apitest.Object{"apiVersion": "v1", "kind": "Node", "metadata": apitest.Object{"name": name, "labels": apitest.Object{"kubernetes.io/hostname": name}}})
	}
	c.Reconcile(t)
	return c
}

// paths has the path of each kind, before the name.
var paths = map[string]string{
	"StatefulSet": "/apis/apps/v1/namespaces/team/statefulsets/", "Deployment": "/apis/apps/v1/namespaces/etcd-webhook/deployments/",
	"Service": "/api/v1/namespaces/team/services/", "Pod": "/api/v1/namespaces/team/pods/", "Node": "/api/v1/nodes/",
	"PersistentVolumeClaim": "/api/v1/namespaces/team/persistentvolumeclaims/",
	"Etcd":                  "/apis/druid.gardener.cloud/v1alpha1/namespaces/team/etcds/",
	"ConfigMap":             "/api/v1/namespaces/team/configmaps/",
	"Lease":                 "/apis/coordination.k8s.io/v1/namespaces/team/leases/",
	"CronJob":               "/apis/batch/v1/namespaces/team/cronjobs/",
	"Job":                   "/apis/batch/v1/namespaces/team/jobs/",
	"ServiceAccount":        "/api/v1/namespaces/team/serviceaccounts/",
	"Role":                  "/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles/",
	"RoleBinding":           "/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings/",
}

// Path returns the path of an object.
func Path(kind, name string) string { return paths[kind] + name }

// Create puts an object under its path.
func (c *Cluster) Create(o apitest.Object) {
	kind, _ := o["kind"].(string)
	name, _ := Field(o, "metadata")["name"].(string)
	c.Put(Path(kind, name), o)
}

// Field returns the object in a field, nil where there is none.
func Field(o apitest.Object, path ...string) apitest.Object {
	for _, name := range path {
		o, _ = o[name].(apitest.Object)
	}
	return o
}

// WeakProbes gives the members, which have run for long, probes that don't ask etcd.
func (c *Cluster) WeakProbes() {
	for _, pod := range []string{"main-0", "main-1", "main-2"} {
		o := c.Get(Path("Pod", pod))
		all, _ := Field(o, "spec")["containers"].([]any)
		for _, container := range all {
			if container, is := container.(apitest.Object); is {
				container["readinessProbe"] = apitest.Object{"tcpSocket": apitest.Object{"port": 2379}}
			}
		}
	}
}

// Reconcile does the work of the StatefulSet controller and the kubelets: it makes the pods
// that are missing, starts their members, restarts those of another template, and deletes
// those above the replicas.
func (c *Cluster) Reconcile(t *testing.T) {
	t.Helper()
	sts := c.Get(Path("StatefulSet", "main"))
	if sts == nil {
		return
	}
	replicas, partition := number(sts["spec"], "replicas"), number(Field(sts, "spec", "updateStrategy", "rollingUpdate"), "partition")
	if Field(sts, "spec", "updateStrategy")["type"] == "OnDelete" {
		partition = replicas
	}
	var typed corev1.PodTemplateSpec // so that a field that is empty makes no other revision
	_ = json.Unmarshal([]byte(text(Field(sts, "spec")["template"])), &typed)
	template, _ := json.Marshal(typed)
	sum := fnv.New32()
	_, _ = sum.Write(template)
	revision := fmt.Sprintf("main-%x", sum.Sum32())
	updated := 0
	for i := range 9 {
		name := fmt.Sprintf("main-%d", i)
		pod := c.Get(Path("Pod", name))
		switch {
		case i >= replicas:
			c.Remove(Path("Pod", name))
			c.Etcd.Stop(name)
			continue
		case pod == nil:
			c.start(t, i, revision, template)
			updated++
		case Field(pod, "metadata", "labels")["controller-revision-hash"] == revision:
			updated++
		case i >= partition:
			c.Restarted = append(c.Restarted, name)
			c.start(t, i, revision, template)
			updated++
		}
	}
	status := apitest.Object{
		"replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas, "currentReplicas": replicas, "updatedReplicas": updated,
		"updateRevision": revision, "currentRevision": revision, "observedGeneration": 1,
	}
	if now, _ := json.Marshal(sts["status"]); string(now) != text(status) {
		sts["status"] = status
		c.Put(Path("StatefulSet", "main"), sts)
	}
}

// start makes a pod with its claim, and runs the member that etcd has for it.
func (c *Cluster) start(t *testing.T, i int, revision string, template []byte) {
	t.Helper()
	name := fmt.Sprintf("main-%d", i)
	c.Etcd.Stop(name) // of an earlier pod
	var made struct{ Spec apitest.Object }
	if err := json.Unmarshal(template, &made); err != nil {
		t.Error(err)
		return
	}
	made.Spec["nodeName"] = fmt.Sprintf("node-%d", i)
	made.Spec["volumes"] = []any{apitest.Object{"name": "data", "persistentVolumeClaim": apitest.Object{"claimName": "data-" + name}}}
	const began = "2026-01-01T00:00:00Z"
	c.Create(apitest.Object{"apiVersion": "v1", "kind": "Pod", "spec": made.Spec, "metadata": apitest.Object{
		"namespace": "team", "name": name, "creationTimestamp": began,
		"labels":          apitest.Object{"app": "main", "controller-revision-hash": revision, "statefulset.kubernetes.io/pod-name": name},
		"ownerReferences": []any{apitest.Object{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "main", "uid": "sts", "controller": true}},
	}, "status": apitest.Object{
		"phase": "Running", "podIP": fmt.Sprintf("10.1.0.%d", i+1),
		"containerStatuses": []any{apitest.Object{"name": "etcd", "ready": true, "started": true, "state": apitest.Object{"running": apitest.Object{"startedAt": began}}}},
		"conditions":        []any{apitest.Object{"type": "Ready", "status": "True", "lastTransitionTime": began}},
	}})
	if c.Get(Path("PersistentVolumeClaim", "data-"+name)) == nil {
		c.Create(apitest.Object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": apitest.Object{"namespace": "team", "name": "data-" + name}, "spec": apitest.Object{"volumeName": name}})
	}
	c.Etcd.Start(t, name)
}

func number(o any, field string) int {
	spec, _ := o.(apitest.Object)
	var n int
	_ = json.Unmarshal([]byte(text(spec[field])), &n) // 0 for none
	return n
}

func text(o any) string {
	text, _ := json.Marshal(o) // all of it came as JSON
	return string(text)
}

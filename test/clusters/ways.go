// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// Way is a ready-made way of running etcd that is not one StatefulSet or Etcd. It is one cluster,
// or several that look like one.
type Way struct {
	// Name is also the name of the manifest: way-NAME.yaml.
	Name string
	// Members are the members' names.
	Members []string
	// TLS gives the members certificates in the Secret etcd-tls.
	TLS bool
	// Static runs the pods from the manifest folder of one node's kubelet.
	Static bool
	// Clusters are the clusters as the programs must see them, in the order of their targets.
	Clusters []Verdict
}

// Verdict is what the programs must print of a cluster.
type Verdict struct {
	// Kind and Name are those of the owner, and Product is the flavour. Name may have the
	// placeholder NODE.
	Kind, Name, Product string
	// Size is the number of members, and Pods are the beginnings of the names of their pods.
	Size int
	Pods []string
	// Membership is a part of the refusal to scale. It names what adds and removes members. It is
	// empty if the plugin does it.
	Membership string
	// Services are the Services for clients.
	Services []string
	TLS      bool
	// Terms reports whether a policy gives terms to the members, and Budget whether it gives the
	// cluster a budget.
	Terms, Budget bool
	// Budgeted is a part of what status prints of the budget.
	Budgeted string
}

const (
	byHand = "nothing in the cluster adds and removes its members"
	// unguarded is what status prints of pods that get no budget.
	unguarded = "etcd-webhook creates none for pods without a StatefulSet"
)

var three = []string{"north", "east", "west"}

var ways = []Way{
	{
		Name: "statefulsets", Members: three,
		Clusters: []Verdict{{
			Kind: "StatefulSet", Name: "east", Product: "plain", Size: 3, Pods: []string{"east-0", "north-0", "west-0"},
			Membership: "its StatefulSets (east, north and west)", Services: nil, Terms: true, Budget: true, Budgeted: "minAvailable",
		}},
	},
	{
		Name: "deployments", Members: three,
		Clusters: []Verdict{{
			Kind: "Pods", Name: "east", Product: "pods", Size: 3, Pods: []string{"east-", "north-", "west-"}, Membership: byHand,
			Services: []string{"east", "north", "west"}, Budgeted: unguarded,
		}},
	},
	{
		Name: "pods", Members: three, TLS: true,
		Clusters: []Verdict{{
			Kind: "Pods", Name: "east", Product: "pods", Size: 3, Pods: []string{"east", "north", "west"}, Membership: byHand,
			Services: []string{"etcd-client"}, TLS: true, Budgeted: unguarded,
		}},
	},
	{
		Name: "daemonset", Members: []string{"single"},
		Clusters: []Verdict{{Kind: "DaemonSet", Name: "single", Product: "pods", Size: 1, Pods: []string{"single-"}, Membership: byHand}},
	},
	{
		Name: "static", Members: []string{"main", "events"}, Static: true,
		Clusters: []Verdict{
			{Kind: "Pods", Name: "etcd-events", Product: "pods", Size: 1, Pods: []string{"etcd-events-NODE"}, Membership: byHand},
			{Kind: "Pods", Name: "etcd-main", Product: "pods", Size: 1, Pods: []string{"etcd-main-NODE"}, Membership: byHand},
		},
	},
	{
		Name: "script", Members: []string{"etcd-0", "etcd-1", "etcd-2"},
		Clusters: []Verdict{{
			Kind: "StatefulSet", Name: "etcd", Product: "plain", Size: 3, Pods: []string{"etcd-0", "etcd-1", "etcd-2"},
			Membership: "the start script of container etcd (etcdctl member add) adds and removes its members", Terms: true, Budget: true, Budgeted: "minAvailable",
		}},
	},
}

// Ways returns the ready-made ways of running etcd that are not one StatefulSet.
func Ways() []Way { return slices.Clone(ways) }

// Node is a node that runs static pods.
type Node struct {
	// Name is the node's name, and Address its IP.
	Name, Address string
	// Folder is the folder of its kubelet's manifests.
	Folder string
}

// ApplyTo creates the clusters in a namespace that exists. Only static pods need the node. The
// returned function removes what is outside of the namespace.
func (w Way) ApplyTo(ctx context.Context, tb Testbed, namespace string, node Node, progress io.Writer) (remove func() error, err error) {
	nothing := func() error { return nil }
	filled := wayData{Way: w, Namespace: namespace, Node: node}
	if err := pushImages(ctx, tb, []string{filled.Image(), filled.Shell()}, progress); err != nil {
		return nothing, err
	}
	if w.Static {
		return filled.writeStatic()
	}
	k, err := connect(tb)
	if err != nil {
		return nothing, err
	}
	if w.TLS {
		if err := filled.createCertificates(ctx, k); err != nil {
			return nothing, err
		}
	}
	objects, err := render("way-"+w.Name+".yaml", filled)
	if err != nil {
		return nothing, err
	}
	for _, o := range objects {
		mark(o, w.Name)
	}
	return nothing, k.apply(ctx, objects...)
}

// wayData is the input of a way's manifest.
type wayData struct {
	Way

	Namespace string
	Node      Node
}

// Image is etcd's image, and Shell is one with a shell.
func (wayData) Image() string { return images.Etcd("v3.6.16") }
func (wayData) Shell() string { return images.Alpine }

// Scheme returns that of all URLs.
func (d wayData) Scheme() string {
	if d.TLS {
		return "https"
	}
	return "http"
}

// InitialCluster lists all members. suffix follows a member's name in its host name.
func (d wayData) InitialCluster(suffix string) string {
	entries := make([]string, 0, len(d.Members))
	for _, m := range d.Members {
		host := strings.ReplaceAll(m+suffix, "MEMBER", m)
		entries = append(entries, fmt.Sprintf("%s=%s://%s:2380", m, d.Scheme(), host))
	}
	return strings.Join(entries, ",")
}

// createCertificates creates the Secret with one certificate for everything.
func (d wayData) createCertificates(ctx context.Context, k *kube) error {
	l := layout{Spec: Spec{Flavour: Plain, TLS: true}.withDefaults(), Namespace: d.Namespace, Name: "etcd"}
	a, err := newAuthority("etcd-ca", time.Now()) //nolint:forbidigo // a certificate is valid from the moment it is made
	if err != nil {
		return err
	}
	names := append(l.serverNames(), "*.etcd-peers", "*.etcd-peers."+d.Namespace+".svc", "*.etcd-peers."+d.Namespace+".svc.cluster.local")
	secrets, err := secretsOf(leaf{"etcd-tls", a, "etcd", names})
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "etcd-tls"}, Data: secrets["etcd-tls"]}
	if err := k.Create(ctx, secret); err != nil {
		return fmt.Errorf("create secret %s/etcd-tls: %w", d.Namespace, err)
	}
	return nil
}

// writeStatic gives the kubelet the manifests, a file for each pod.
func (d wayData) writeStatic() (remove func() error, err error) {
	text, err := manifests.ReadFile("manifests/way-" + d.Name + ".yaml")
	if err != nil {
		return nil, err
	}
	t, err := template.New(d.Name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var files []string
	remove = func() error {
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
		return nil
	}
	for i, member := range d.Members {
		var filled bytes.Buffer
		// kOps' ports: both members of a node have its address.
		ports := map[string]any{"Data": d, "Member": member, "Client": 4001 + i, "Peer": 2390 + i}
		if err := t.Execute(&filled, ports); err != nil {
			return remove, err
		}
		file := filepath.Join(d.Node.Folder, d.Namespace+"-"+member+".yaml")
		files = append(files, file)
		if err := os.WriteFile(file, filled.Bytes(), 0o600); err != nil {
			return remove, err
		}
	}
	return remove, nil
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

// Testbed is a running cluster. Its methods may be called from several
// goroutines and processes at once.
type Testbed struct {
	layout
	log io.Writer
}

// Attach returns the testbed that Up made with the same Name and StateDir.
func Attach(_ context.Context, o Options) (*Testbed, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	l, err := loadLayout(o.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no testbed %s in %s: start one with `testbed up --name %s`", o.Name, o.StateDir, o.Name)
	}
	if err != nil {
		return nil, err
	}
	return &Testbed{layout: l, log: o.Log}, nil
}

// Name returns the testbed's name.
func (t *Testbed) Name() string { return t.layout.Name }

// Dir returns the run directory: everything of the testbed is below it.
func (t *Testbed) Dir() string { return t.layout.Dir }

// Shared returns the host's path of the directory that all nodes see as
// machine.SharedPath, for a hostPath volume that must be the same
// everywhere. Other paths of /var and /run are each node's own.
func (t *Testbed) Shared() string { return t.shared() }

// Kubeconfig returns the path of a cluster administrator's kubeconfig.
func (t *Testbed) Kubeconfig() string { return t.kubeconfig() }

// RESTConfig returns the same for use in a program, without client-side
// throttling.
func (t *Testbed) RESTConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", t.kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// Kubectl returns the path of a kubectl of the cluster's version.
func (t *Testbed) Kubectl() string { return filepath.Join(t.bin(), "kubectl") }

// Bin returns the directory of the programs that are for people: kubectl,
// etcdctl, etcdutl, ctr.
func (t *Testbed) Bin() string { return t.bin() }

// Registry returns host:port of the registry that every node pulls every image
// from, whatever registry the image's name contains. It speaks plain HTTP.
func (t *Testbed) Registry() string { return t.registry() }

// Nodes returns the nodes in the order of their numbers.
func (t *Testbed) Nodes() []Node { return slices.Clone(t.layout.Nodes) }

// Zones returns the zones in the order of their letters.
func (t *Testbed) Zones() []string { return t.zones() }

// StaticPods returns the directory of a node's static pods: its kubelet runs each manifest
// that is put there, whatever the API server contains.
func (t *Testbed) StaticPods(node string) string { return t.staticPods(node) }

// Log returns the file that takes a program's output: of the control plane by
// its name, of a node as NODE/NAME.
func (t *Testbed) Log(process string) string {
	spec := machine.Spec{Dir: t.Dir(), Name: controlPlane}
	if node, name, ok := strings.Cut(process, "/"); ok {
		spec.Name, process = node, name
	}
	return spec.Log(process)
}

// AuditLog returns the file in which the API server notes, as audit events of level
// Metadata, each request of a service account in the namespace of etcd-webhook.
func (t *Testbed) AuditLog() string { return t.auditLog() }

func (t *Testbed) helper() string { return filepath.Join(t.libexec(), helper) }

// spec returns the machine of a node, or the control plane's.
func (t *Testbed) spec(name string) (*machine.Spec, error) {
	if name != controlPlane && !slices.ContainsFunc(t.layout.Nodes, func(n Node) bool { return n.Name == name }) {
		return nil, fmt.Errorf("testbed %s has no node %q", t.layout.Name, name)
	}
	return machine.Load(t.Dir(), name)
}

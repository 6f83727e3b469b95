// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"os"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

// MachineStatus is the state of a node, or of the control plane.
type MachineStatus struct {
	Name      string           `json:"name"`
	Zone      string           `json:"zone,omitempty"`
	Address   string           `json:"address"`
	Running   bool             `json:"running"`
	Paused    bool             `json:"paused"`
	Cut       bool             `json:"cut"`
	Processes []machine.Status `json:"processes,omitempty"`
	// Kubernetes is the node's state according to the API server. It is empty if
	// unknown.
	Kubernetes string `json:"kubernetes,omitempty"`
}

// Status is the state of a testbed.
type Status struct {
	Name       string          `json:"name"`
	Dir        string          `json:"dir"`
	Subnet     string          `json:"subnet"`
	Server     string          `json:"server"`
	Kubeconfig string          `json:"kubeconfig"`
	Registry   string          `json:"registry"`
	Complete   bool            `json:"complete"`
	Machines   []MachineStatus `json:"machines"`
}

// Status inspects the testbed. What can't be seen, because it is off or frozen,
// is left out.
func (t *Testbed) Status(ctx context.Context) (Status, error) {
	s := Status{
		Name: t.layout.Name, Dir: t.Dir(), Subnet: t.Subnet.String(), Server: t.server(),
		Kubeconfig: t.Kubeconfig(), Registry: t.Registry(), Complete: t.Complete,
	}
	control, err := t.machineStatus(ctx, controlPlane, t.controlAddress())
	if err != nil {
		return s, err
	}
	s.Machines = append(s.Machines, control)
	kubernetes := t.askNodeConditions(ctx)
	for _, n := range t.layout.Nodes {
		m, err := t.machineStatus(ctx, n.Name, n.Address)
		if err != nil {
			return s, err
		}
		m.Zone, m.Kubernetes = n.Zone, kubernetes[n.Name]
		s.Machines = append(s.Machines, m)
	}
	return s, nil
}

func (t *Testbed) machineStatus(ctx context.Context, name, address string) (MachineStatus, error) {
	m := MachineStatus{Name: name, Address: address}
	spec, err := t.spec(name)
	if os.IsNotExist(err) {
		return m, nil // an Up that didn't come far
	}
	if err != nil {
		return m, err
	}
	_, err = os.Stat(t.cutFile(name))
	m.Running, m.Cut = spec.Running() != 0, err == nil
	m.Paused = m.Running && spec.Paused()
	if !m.Running || m.Paused {
		return m, nil
	}
	m.Processes, err = spec.Status(ctx)
	return m, err
}

// askNodeConditions asks the API server, which may be down.
func (t *Testbed) askNodeConditions(ctx context.Context) map[string]string {
	client, err := t.client()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	conditions, _ := nodeConditions(ctx, client)
	return conditions
}

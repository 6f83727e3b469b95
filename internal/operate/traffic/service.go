// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Services are the Services by which clients reach a cluster.
type Services struct {
	// Chosen are those to cut or to restore.
	Chosen []corev1.Service
	// Left are the names of others that reach the members' client port. Clients can still
	// use them.
	Left []string
	// Peer is the headless Service, which clients can use, too. It is empty if there is none.
	Peer string
}

// FindServices chooses a cluster's client Services: the one with a name, or all that reach
// the port where members listen for clients. Port 0 means that the port isn't known: then
// all Services that select members. A Service for metrics only is chosen by name alone.
func FindServices(ctx context.Context, r *observe.Reader, o owner.Owner, name string, port int) (Services, error) {
	all, err := memberservices.OfClients(ctx, r, o)
	if err != nil {
		return Services{}, err
	}
	pods, err := r.MemberPods(ctx, o)
	if err != nil {
		return Services{}, err
	}
	peer, err := memberservices.OfPeers(ctx, r, o)
	if err != nil {
		return Services{}, err
	}
	var found Services
	if peer.Headless() {
		found.Peer = peer.Name
	}
	for _, s := range all {
		switch reaches := reachesPort(&s, pods, port); {
		case name == "" && reaches, name == s.Name:
			found.Chosen = append(found.Chosen, s)
		case reaches:
			found.Left = append(found.Left, s.Name)
		}
	}
	return found, nil
}

// reachesPort reports whether a Service leads to a port of the pods, by number or
// by the name that a container gives it.
func reachesPort(s *corev1.Service, pods []*corev1.Pod, port int) bool {
	if port == 0 || len(pods) == 0 {
		return true
	}
	return slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool {
		if p.TargetPort.StrVal != "" {
			return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return namesPort(pod, p.TargetPort.StrVal, port) })
		}
		number := p.TargetPort.IntValue()
		if number == 0 {
			number = int(p.Port)
		}
		return number == port
	})
}

func namesPort(pod *corev1.Pod, name string, port int) bool {
	return slices.ContainsFunc(containers.Of(&pod.Spec), func(c *corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
			return p.Name == name && int(p.ContainerPort) == port
		})
	})
}

// headless returns why a headless Service must not be cut.
func headless(name string) string {
	return fmt.Sprintf("Service %s is headless: members find each other by it, so cutting it could separate them; name the Service that clients use", name)
}

// ServiceObstacle returns why a Service must not be cut, empty if it may be: the cut would
// separate the members, or cut off clients of something else.
func ServiceObstacle(ctx context.Context, r *observe.Reader, o owner.Owner, s *corev1.Service) (string, error) {
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		return headless(s.Name), nil
	}
	owners, others, err := memberservices.Owners(ctx, r, s)
	if err != nil {
		return "", err
	}
	var foreign []string
	for _, owner := range owners {
		if owner.Key() != o.Key() {
			foreign = append(foreign, "members of "+owner.String())
		}
	}
	if len(others) > 0 {
		foreign = append(foreign, "pod "+strings.Join(others, ", "))
	}
	if len(foreign) > 0 {
		return fmt.Sprintf("Service %s also selects %s, which its clients would lose; give the cluster a Service of its own", s.Name, strings.Join(foreign, " and ")), nil
	}
	// A cluster without pods is no obstacle: clients are kept away before restored members
	// start.
	return "", nil
}

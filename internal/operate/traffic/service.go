// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Services are the Services by which clients reach a cluster.
type Services struct {
	// Chosen are those to cut or to restore.
	Chosen []corev1.Service
	// Left are the names of others that reach the members' client port, and
	// through which clients still come in.
	Left []string
	// Peer is the headless Service, by which clients can come in too. Empty
	// when there is none.
	Peer string
}

// FindServices chooses a cluster's client Services: the one named, or all
// that reach the port where members listen for clients. Port 0 is not known:
// then all that select members. Only a name can choose a Service for nothing but metrics.
func FindServices(ctx context.Context, r *observe.Reader, o observe.Owner, name string, port int) (Services, error) {
	all, err := r.ClientServices(ctx, o)
	if err != nil {
		return Services{}, err
	}
	pods, err := r.MemberPods(ctx, o)
	if err != nil {
		return Services{}, err
	}
	peer, err := r.PeerService(ctx, o)
	if err != nil {
		return Services{}, err
	}
	var found Services
	if peer != nil {
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

// reachesPort says whether a Service leads to a port of the pods, by number or
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
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
			return p.Name == name && int(p.ContainerPort) == port
		})
	})
}

// ServiceObstacle is why a Service must not be cut, empty when it may be: it
// would part the members, or cut off others than this cluster's clients.
func ServiceObstacle(ctx context.Context, r *observe.Reader, o observe.Owner, s *corev1.Service) (string, error) {
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		return fmt.Sprintf("Service %s is headless: members find each other by it, so cutting it could part them; name the Service that clients use", s.Name), nil
	}
	owners, others, err := r.OwnersOfService(ctx, s)
	if err != nil {
		return "", err
	}
	var strangers []string
	for _, owner := range owners {
		if owner.Key() != o.Key() {
			strangers = append(strangers, "members of "+owner.String())
		}
	}
	if len(others) > 0 {
		strangers = append(strangers, "pod "+strings.Join(others, ", "))
	}
	if len(strangers) > 0 {
		return fmt.Sprintf("Service %s also selects %s, which the cut would take from its clients; give the cluster a Service of its own", s.Name, strings.Join(strangers, " and ")), nil
	}
	// That nobody runs is no obstacle: members that are about to start, restored,
	// shall find the clients kept away.
	return "", nil
}

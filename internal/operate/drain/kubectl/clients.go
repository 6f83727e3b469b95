// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	appsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	policyv1 "k8s.io/client-go/kubernetes/typed/policy/v1"
	"k8s.io/client-go/rest"
)

// clients are those that kubectl's drain uses. A set of all clients makes the program a fifth larger.
type clients struct {
	kubernetes.Interface // nil: a call of any other client panics

	core      corev1.CoreV1Interface
	apps      appsv1.AppsV1Interface
	policy    policyv1.PolicyV1Interface
	discovery discovery.DiscoveryInterfaces
}

// newClients returns clients that share their connections.
func newClients(config *rest.Config) (*clients, error) {
	shared, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	var c clients
	if c.core, err = corev1.NewForConfigAndClient(config, shared); err != nil {
		return nil, err
	}
	if c.apps, err = appsv1.NewForConfigAndClient(config, shared); err != nil {
		return nil, err
	}
	if c.policy, err = policyv1.NewForConfigAndClient(config, shared); err != nil {
		return nil, err
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(config, shared); err != nil {
		return nil, err
	}
	return &c, nil
}

// CoreV1 implements kubernetes.Interface.
func (c *clients) CoreV1() corev1.CoreV1Interface { return c.core }

// AppsV1 implements kubernetes.Interface.
func (c *clients) AppsV1() appsv1.AppsV1Interface { return c.apps }

// PolicyV1 implements kubernetes.Interface.
func (c *clients) PolicyV1() policyv1.PolicyV1Interface { return c.policy }

// Discovery implements kubernetes.Interface.
func (c *clients) Discovery() discovery.DiscoveryInterfaces { return c.discovery }

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// calledWebhook is one entry of a configuration, of either kind.
type calledWebhook struct {
	name, path string
	mutating   bool
	client     admissionregistrationv1.WebhookClientConfig
	namespaces *metav1.LabelSelector
	objects    *metav1.LabelSelector
	conditions []admissionregistrationv1.MatchCondition
}

func (l *Inspector) readWebhooks(ctx context.Context) error {
	var mutating admissionregistrationv1.MutatingWebhookConfigurationList
	var validating admissionregistrationv1.ValidatingWebhookConfigurationList
	if err := l.kube.List(ctx, &mutating); err != nil {
		return err
	}
	if err := l.kube.List(ctx, &validating); err != nil {
		return err
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			l.add(calledWebhook{name: w.Name, mutating: true, client: w.ClientConfig, namespaces: w.NamespaceSelector, objects: w.ObjectSelector, conditions: w.MatchConditions},
				"mutatingwebhookconfiguration/"+c.Name, w.Rules, w.FailurePolicy, w.TimeoutSeconds)
		}
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			l.add(calledWebhook{name: w.Name, client: w.ClientConfig, namespaces: w.NamespaceSelector, objects: w.ObjectSelector, conditions: w.MatchConditions},
				"validatingwebhookconfiguration/"+c.Name, w.Rules, w.FailurePolicy, w.TimeoutSeconds)
		}
	}
	return nil
}

// add adds a webhook to the status if it is one of ours.
func (l *Inspector) add(w calledWebhook, in string, rules []admissionregistrationv1.RuleWithOperations, failure *admissionregistrationv1.FailurePolicyType, timeout *int32) {
	if !strings.HasSuffix(w.name, entries.Suffix) {
		return
	}
	if s := w.client.Service; s != nil {
		w.path = ptr.Deref(s.Path, "/")
		l.st.Program.Namespace = s.Namespace
	}
	out := v1alpha1.InstalledWebhook{
		Name: w.name, Configuration: in, FailurePolicy: string(ptr.Deref(failure, admissionregistrationv1.Fail)),
		TimeoutSecs: ptr.Deref(timeout, 10), ExcludedNamespaces: excludedBy(w.namespaces),
		AuthorityExpiry: authorityExpiry(w.client.CABundle),
	}
	if w.objects != nil && len(w.objects.MatchLabels)+len(w.objects.MatchExpressions) > 0 {
		out.ObjectSelector = metav1.FormatLabelSelector(w.objects)
	}
	for _, c := range w.conditions {
		out.MatchConditions = append(out.MatchConditions, c.Name)
	}
	for _, r := range rules {
		for _, resource := range r.Resources {
			for _, operation := range r.Operations {
				out.Resources = append(out.Resources, resource+":"+string(operation))
			}
		}
	}
	l.webhooks = append(l.webhooks, w)
	l.st.Webhooks = append(l.st.Webhooks, out)
}

// excludedBy returns the namespaces that a selector excludes by name.
func excludedBy(s *metav1.LabelSelector) []string {
	if s == nil {
		return nil
	}
	for _, r := range s.MatchExpressions {
		if r.Key == corev1.LabelMetadataName && r.Operator == metav1.LabelSelectorOpNotIn {
			return r.Values
		}
	}
	return nil
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// TrafficReport returns the effect of a cut, or of its end, for printing.
func TrafficReport(t *traffic.Cluster, effect traffic.Effect) *output.ClientTrafficReport {
	out := &output.ClientTrafficReport{Namespace: t.Namespace, Cluster: t.Ref(), OpenStreams: effect.OpenStreams}
	for i, name := range t.Names() {
		service := output.ClientService{Name: name}
		if effect.Ready != nil {
			service.ReadyEndpoints = effect.Ready[i]
		}
		out.Services = append(out.Services, service)
	}
	for _, m := range effect.Members {
		member := output.MemberStreams{Pod: m.Pod}
		if m.Err != nil {
			member.Error = m.Err.Error()
		}
		for _, s := range m.Open {
			member.Streams = append(member.Streams, output.OpenStreams{Method: s.Method, AtLeast: s.AtLeast})
		}
		for _, r := range m.Requests {
			member.Requests = append(member.Requests, output.UnaryRequests{Method: r.Method, AtLeast: r.AtLeast, Seconds: r.Seconds})
		}
		out.Members = append(out.Members, member)
	}
	return out
}

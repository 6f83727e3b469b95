// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package apitest

import (
	"io"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// forward serves the subresource portforward of a pod: it connects each data stream to a
// port of the pod. It knows SPDY only, so clients fall back to it.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, pod string) {
	if s.Dial == nil || !httpstream.IsUpgradeRequest(r) || r.Method != http.MethodPost {
		reply(w, http.StatusBadRequest, status(http.StatusBadRequest, "no port of "+pod+" is forwarded"))
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		return // the client has the answer
	}
	streams := make(chan httpstream.Stream, 2)
	upgraded := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if upgraded == nil {
		return
	}
	defer upgraded.Close()
	failure, data := <-streams, <-streams
	port, _ := strconv.Atoi(data.Headers().Get(corev1.PortHeader))
	conn, err := s.Dial(pod, port)
	if err != nil {
		_, _ = io.WriteString(failure, err.Error()) // the client sees it
		_ = failure.Close()
		<-upgraded.CloseChan()
		return
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, data) // ends with the connection
		_ = conn.Close()
	}()
	_, _ = io.Copy(data, conn)
}

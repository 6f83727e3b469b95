// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// The API server's metrics of admission webhooks. The label name is the webhook's name.
const (
	callsMetric    = "apiserver_admission_webhook_request_total"
	failOpenMetric = "apiserver_admission_webhook_fail_open_count"
	durationMetric = "apiserver_admission_webhook_admission_duration_seconds"
)

// readCalls reads the metrics of the API server that answers, which is one of several in a
// highly available control plane.
func (l *Inspector) readCalls(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(l.config)
	if err != nil {
		return err
	}
	raw, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return err
	}
	calls, err := ReadCalls(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	for i := range l.st.Webhooks {
		w := &l.st.Webhooks[i]
		c := calls[w.Name]
		w.Calls = &c
	}
	return nil
}

// ReadCalls returns the calls of each webhook of ours from an API server's metrics. It only
// parses those of the thousands of series.
func ReadCalls(metrics io.Reader) (map[string]v1alpha1.WebhookCalls, error) {
	var ours bytes.Buffer
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "apiserver_admission_webhook_") && !strings.HasPrefix(line, "# TYPE apiserver_admission_webhook_") {
			continue
		}
		if strings.HasPrefix(line, "#") || strings.Contains(line, entries.Suffix+`"`) {
			ours.WriteString(line + "\n")
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&ours)
	if err != nil {
		return nil, err
	}
	out := map[string]v1alpha1.WebhookCalls{}
	for _, m := range families[callsMetric].GetMetric() {
		c := out[label(m, "name")]
		c.Total += int64(m.GetCounter().GetValue())
		if code := label(m, "code"); code != "200" {
			c.Errors += int64(m.GetCounter().GetValue())
		}
		out[label(m, "name")] = c
	}
	for _, m := range families[failOpenMetric].GetMetric() {
		c := out[label(m, "name")]
		c.FailedOpen += int64(m.GetCounter().GetValue())
		out[label(m, "name")] = c
	}
	seconds, count := map[string]float64{}, map[string]float64{}
	for _, m := range families[durationMetric].GetMetric() {
		seconds[label(m, "name")] += m.GetHistogram().GetSampleSum()
		count[label(m, "name")] += float64(m.GetHistogram().GetSampleCount())
	}
	for name, n := range count {
		if c := out[name]; n > 0 {
			c.MeanMilliseconds = float64(int(seconds[name]/n*10_000)) / 10
			out[name] = c
		}
	}
	return out, nil
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

var local = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// TestClock checks that the clock learns from fast answers only.
func TestClock(t *testing.T) {
	t.Parallel()
	c := &Clock{PassiveClock: clocktesting.NewFakePassiveClock(local)}
	ahead, behind := local.Add(10*time.Minute), local.AddDate(-4, 0, 0)
	for _, row := range []struct {
		date string
		sent time.Duration
		want time.Time
	}{
		{"", 0, local},
		{local.Add(2 * time.Second).Format(http.TimeFormat), 0, local},
		{ahead.Format(http.TimeFormat), -time.Minute, local},
		{ahead.Format(http.TimeFormat), 0, ahead},
		{"garbage", 0, ahead},
		{behind.Format(http.TimeFormat), 0, behind},
		{local.Format(http.TimeFormat), 0, local},
	} {
		c.learn(row.date, local.Add(row.sent))
		if !c.Now().Equal(row.want) || c.Since(local) != row.want.Sub(local) {
			t.Errorf("after %q it is %s, want %s", row.date, c.Now(), row.want)
		}
	}
}

// TestLearnFrom checks that the answers to a configuration's clients set the clock, and that the
// caller's configuration is unchanged.
func TestLearnFrom(t *testing.T) {
	t.Parallel()
	ahead := local.Add(time.Hour)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", ahead.Format(http.TimeFormat))
	}))
	t.Cleanup(server.Close)
	given := &rest.Config{Host: server.URL}
	c := &Clock{PassiveClock: clocktesting.NewFakePassiveClock(local)}
	for _, step := range []struct {
		config *rest.Config
		want   time.Time
	}{{given, local}, {c.LearnFrom(given), ahead}, {given, ahead}} {
		client, err := rest.HTTPClientFor(step.config)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if !c.Now().Equal(step.want) {
			t.Errorf("it is %s, want %s", c.Now(), step.want)
		}
	}
	if given.WrapTransport != nil {
		t.Error("the given configuration was changed")
	}
}

// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// whoAmI asks the API server as whom this program writes. The webhook must know
// the controller's writes from everybody else's, whatever the installation
// called its service account. It asks until it is answered: a program that gave
// up would be started again ever more slowly, and be missing when the API
// server is back.
func whoAmI(ctx context.Context, config *rest.Config, logger logr.Logger) (string, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("make a client: %w", err)
	}
	var self string
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		review, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			logger.Error(err, "the API server doesn't say who this is")
			return false, nil
		}
		self = review.Status.UserInfo.Username
		return true, nil
	})
	if err != nil {
		return "", fmt.Errorf("ask the API server who this is: %w", err)
	}
	return self, nil
}

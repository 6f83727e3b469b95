// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import "github.com/kubectl-etcd/kubectl-etcd/policy"

var clientTraffic policy.ReasonList

// The reasons for a cut of client traffic.
var (
	ClientTrafficRestored = clientTraffic.Add("ClientTrafficRestored",
		"A cut of client traffic has ended. Clients reach the members again.",
		policy.NoAction)
	ClientTrafficRestoreDenied = clientTraffic.Add("ClientTrafficRestoreDenied",
		"A cut of client traffic has expired, but the controller could not update the Service. It tries again.",
		"Read the refusal's message in the Event. To restore the traffic manually: kubectl etcd restore-client-traffic NAME.")
	ClientTrafficHeld = clientTraffic.Add("ClientTrafficHeld",
		"A cut of client traffic goes on after its end, because a restore or a coordinated restart of the cluster has stopped members and has not ended. Clients could reach members without data.",
		"Continue that operation, or end it with --abort. Both restore client traffic. If there is none to end: kubectl etcd restore-client-traffic NAME.")
	CutWritten = clientTraffic.Add("CutWritten",
		"The Service was written with a cut that has not expired.",
		policy.NoAction)
	CutKept = clientTraffic.Add("CutKept",
		"Another client wrote the Service without its cut, which has not expired. The webhook restored the cut.",
		"To end it early: kubectl etcd restore-client-traffic NAME.")
	CutEnded = clientTraffic.Add("CutEnded",
		"The Service was written without a cut that has expired or was ended.",
		policy.NoAction)
	CutUnreadable = clientTraffic.Add("CutUnreadable",
		"The value of the cut in the Service's selector contains no valid end time, or one that is more than 24 hours ahead. The webhook removed it, because the cut would never end.",
		"Use kubectl etcd cut-client-traffic, which writes a valid value.")
)

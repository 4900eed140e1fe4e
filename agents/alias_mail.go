package agents

import "fantail/agents/mail"

type (
	Letter = mail.Letter
	Sent   = mail.Sent
)

var (
	ErrLoud      = mail.ErrLoud
	ErrTakenBack = mail.ErrTakenBack
)

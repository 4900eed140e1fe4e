package uitest_test

import (
	"testing"
	"time"

	"fantail/ui/uitest"
)

// TestShelfOnTheScreen: what the human does with messages by their numbers, each in
// one line of words; what is wrong gives the text back with the next step.
//
// Spec: M-36, R-55.
func TestShelfOnTheScreen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		wrong := func(typed string, says ...string) {
			t.Helper()
			s.Enter(typed)
			s.See(append(says, "› "+typed)...)
			s.Press("ctrl+c")
		}
		for _, text := range []string{"--priority=urgent alpha", "beta gamma", "delta"} {
			s.Enter("/send main " + text)
		}
		s.See("3 pending]")
		s.Enter("/inbox archive 1 #2")
		s.See("Archived #1 #2. /inbox restore to bring them back", "1 pending]")
		s.NotSee("urgent ·")
		s.Enter("/inbox archived")
		s.See("#2 · mail · beta gamma · archived 0s ago", "#1 · urgent mail · alpha · archived")
		s.Enter("/inbox snooze 3 30m")
		s.See("Snoozed #3 until 00:30", "[Agent: main]")
		s.Enter("/inbox --list")
		s.See("No messages.")
		s.Enter("/inbox snoozed")
		s.See("#3 · mail · delta · snoozed until 00:30")
		s.Enter("/check")
		s.See("No messages ready.")
		s.Enter("/inbox restore 1")
		s.See("Back in the inbox: #1", "🔴 urgent · ", "1 pending]")
		s.Enter("/inbox pin 1")
		s.See("Pinned #1. /inbox pin 1 off to unpin")
		s.Enter("/inbox search GAM")
		s.See("#2 · mail · beta gamma · archived 0s ago")
		s.Enter(`/inbox search "nowhere`)
		s.See(`No message matches "nowhere`)
		wrong("/inbox restore 1", "message #1 waits in the inbox already")
		wrong("/inbox archive 77", "there is no message #77. /inbox to list your mail")
		wrong("/inbox archive x", `"x" is not a message number`)
		wrong("/inbox snooze 1 soon", `"soon" is not a time in the future; try 30m`)
		wrong("/inbox snooze 1", "snooze needs a number and a time")
		wrong("/inbox pin 2", "message #2 does not wait: it is archived; /inbox restore 2 brings it back")
		wrong("/fire #1 #2 both", "message #2 does not wait: it is archived")
		s.Enter("/messages mute 1")
		s.See("Muted the thread of #1", "1 pending]")
		s.Enter("/messages mute 1 off")
		s.See("Unmuted the thread of #1 (1 message)", "🔴 urgent · ", "1 pending]")
		s.Enter("/inbox --list")
		s.See("#1 · urgent mail · pinned · alpha")
		s.Golden("shelf-120")
		s.Wait(30 * time.Minute)
		s.See("🔴 urgent · ", "2 pending]")
		s.Enter("/fire #3 what is it?")
		s.See("✉ from main · ", " · mail", "You said: what is it?", "🔴 urgent · ", "1 pending]")
		wrong("/inbox archive 3", "message #3 does not wait any more: it is taken by /fire; /messages show 3 prints it")
		s.Type("/inbox s")
		s.See("snooze N WHEN", "put one away until 30m", "search WORDS")
		s.Press("esc", "ctrl+c")
		s.Enter("/doctor")
		s.See("Messages: 3 = taken 1 + set aside 1 + pending 1", "Nothing is lost and nothing is doubled.")
	})
}

// TestReplyOnTheScreen: the human answers mail in the name of the agent whose tab it
// is, in its thread; who can't be answered is named with what can be done.
//
// Spec: M-36, R-55.
func TestReplyOnTheScreen(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{Provider: uitest.Script(actor)}, func(s *uitest.Session) {
		s.Enter("/agent new study")
		s.See("›study")
		s.Enter("/send main --tag=plan which port do you use?")
		s.See("Message #1 is in the inbox of main")
		s.Press("alt+1")
		s.See("[Agent: main | ")
		s.Enter("/reply 1 8080, as ever")
		s.See("Message #2 is in the inbox of study, in reply to #1")
		s.Enter("/reply 2 not mine")
		s.See("message #2 was sent to another agent: reply in its tab; /messages show 2 prints it", "› /reply 2 not mine")
		s.Press("ctrl+c")
		s.Enter("/reply 9 nobody")
		s.See("there is no message #9")
		s.Press("ctrl+c")
		s.Enter("/reply 1")
		s.See("add a message number and a text. Usage: /reply N TEXT")
		s.Press("ctrl+c", "alt+2")
		s.See("[Agent: study | ")
		s.Enter("/reply 2 thanks")
		s.See("Message #3 is in the inbox of main, in reply to #2")
		s.Enter("/messages show 2")
		s.See("─ #2 from main ─", "reply to  #1", "thread    2 of 3 in a thread: #1 #2 #3")
		s.Press("esc")
		s.Enter("/inbox --list")
		s.See("#2 · mail · in reply to #1, thread_id 1 · 8080, as ever")
		s.Press("alt+1")
		s.Enter("/check")
		s.See("messages collected", "✉ study")
	})
}

// TestOnlyQuestionsWait: a question is an answer's to take, so that commands that
// find nothing else say what to do with it, and putting it away is refused.
func TestOnlyQuestionsWait(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=db ask which database: sqlite | postgres")
		s.Enter("/run")
		s.See("[Agent: main]", "1 asking")
		for _, typed := range []string{"/check", "/check --peek", "/messages next", "/messages wait"} {
			s.Press("ctrl+l")
			s.Enter(typed)
			s.See("1 question waits for your answer: /answer 1")
		}
		s.Enter("/fire what now?")
		s.See("✗ 1 question waits for your answer: /answer 1", "› /fire what now?")
		s.Press("ctrl+c")
		s.Enter("/inbox archive 1")
		s.See("message #1 is a question: an agent waits for your answer, and it can't be archived; /answer 1")
		s.Press("ctrl+c")
		s.Enter("/reply 1 sqlite")
		s.See("message #1 is a question and waits for your answer: /answer 1")
		s.Press("ctrl+c")
		s.Enter("/answer 1 sqlite")
		s.See("db ✓")
		s.Enter("/inbox --all")
		s.See("answered by you")
	})
}

// An agent that speaks version 2 of the Agent Client Protocol, by the protocol's own library, which refuses what is not as the
// draft has it. Its first argument is the directory in which that library is installed. A prompt is a list of
// words: say TEXT, read, ask, stall.
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

const acp = await import(join(process.argv[2], "node_modules/@agentclientprotocol/sdk/dist/v2/stable/acp.js"));
const kept = join(process.env.HOME, "two-session.json"); // what a session has said, over processes
let said = [];
let stopped = () => {};

const update = async (ctx, sessionId, u, keep = true) => {
	if (keep) {
		said.push(u);
		writeFileSync(kept, JSON.stringify(said));
	}
	await ctx.notify("session/update", { sessionId, update: u });
};

async function turn(ctx, sessionId, id, prompt) {
	await update(ctx, sessionId, { sessionUpdate: "user_message", messageId: id, content: prompt });
	await update(ctx, sessionId, { sessionUpdate: "state_update", state: "running" }, false);
	const text = prompt.map((p) => p.text ?? "").join("\n");
	let stop = "end_turn";
	for (const line of text.split("\n")) {
		const [word, ...rest] = line.split(" ");
		const call = { sessionUpdate: "tool_call_update", toolCallId: id + word };
		if (word === "say") {
			for (const piece of [rest.join(" "), " (said)"]) {
				const content = { type: "text", text: piece };
				await update(ctx, sessionId, { sessionUpdate: "agent_message_chunk", messageId: id + "a", content });
			}
		} else if (word === "read") {
			await update(ctx, sessionId, { ...call, title: "look at it", kind: "read", status: "in_progress" });
			const content = [{ type: "content", content: { type: "text", text: "alpha beta" } }];
			await update(ctx, sessionId, { ...call, status: "completed", content });
		} else if (word === "ask") {
			const toolCall = { toolCallId: id + word, title: "rm -r build", kind: "execute", status: "pending" };
			await update(ctx, sessionId, { sessionUpdate: "tool_call_update", ...toolCall });
			const r = await ctx.request("session/request_permission", {
				sessionId,
				title: "May this run?",
				subject: { type: "tool_call", toolCall },
				options: [
					{ optionId: "y", name: "Yes", kind: "allow_once" },
					{ optionId: "n", name: "No", kind: "reject_once" },
				],
			});
			const yes = r.outcome.outcome === "selected" && r.outcome.optionId === "y";
			const content = [{ type: "content", content: { type: "text", text: yes ? "it ran" : "it did not run" } }];
			await update(ctx, sessionId, { ...call, status: yes ? "completed" : "failed", content });
		} else if (word === "stall") {
			await new Promise((resolve) => (stopped = resolve));
			stop = "cancelled";
		}
	}
	await update(ctx, sessionId, { sessionUpdate: "state_update", state: "idle", stopReason: stop }, false);
}

let n = 0;
acp
	.agent({ name: "two" })
	.onRequest("initialize", () => ({
		protocolVersion: acp.PROTOCOL_VERSION ?? 2,
		info: { name: "two", version: "1" },
		capabilities: { session: { mcp: { stdio: {} } } },
	}))
	.onRequest("session/new", () => ({ sessionId: "only" }))
	.onRequest("session/resume", async (ctx) => {
		const r = ctx.params ?? ctx.request;
		if (!existsSync(kept)) throw new Error("no such session");
		said = JSON.parse(readFileSync(kept, "utf8"));
		if (r.replayFrom) for (const u of said) await update(ctx.client, r.sessionId, u, false);
		return {};
	})
	.onRequest("session/prompt", (ctx) => {
		const r = ctx.params ?? ctx.request;
		const id = `m${process.pid}-${++n}`;
		setTimeout(() => turn(ctx.client, r.sessionId, id, r.prompt), 0);
		return { messageId: id };
	})
	.onNotification("session/cancel", () => stopped())
	.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

// Talking to the server: what cannot be delivered is kept and sent again until it is.

const WAITS = [400, 800, 1500, 3000];

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// The answer to a request. As long as the server is away, `away(true)` is called and the same
// request is sent again; a decision that did arrive before is taken once, since it has a number.
export async function ask(path, body, away) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await once(path, body);
      if (attempt) away(false);
      return answer;
    } catch (error) {
      if (error instanceof Refused && error.status < 500) {
        if (attempt) away(false);
        throw error;
      }
      away(true, error instanceof Refused ? error.message : "");
      await new Promise((done) => setTimeout(done, WAITS[Math.min(attempt, WAITS.length - 1)]));
    }
  }
}

async function once(path, body) {
  const options = { cache: "no-store", credentials: "same-origin" };
  if (body) {
    options.method = "POST";
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  const found = await response.json().catch(() => ({ error: response.statusText }));
  if (!response.ok) throw new Refused(response.status, found.error || `HTTP ${response.status}`);
  return found;
}

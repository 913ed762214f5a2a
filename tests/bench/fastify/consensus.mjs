// The deterministic consensus of PRODUCT.md section 6, as fast as plain JavaScript makes it.

const STOPWORDS = new Set(
  `about above after again all also am an and any are as at be because been before being below between both but by can could did
  do does doing down dur each for from had has hav have he her here him his how if in into is it its just may me might more most must
  my of off on once only or other our out over own same shall she should so some such than that the their them then there these they
  this those through to too under until up upon us very was we were what when where which while who whom whose why will with would you
  your`.split(/\s+/),
);
const NOTE = "Agreement is token overlap, not a model judgment.";

function stem(token) {
  if (token.length > 5 && token.endsWith("ing")) token = token.slice(0, -3);
  if (token.length > 4 && token.endsWith("ed")) token = token.slice(0, -2);
  if (token.length > 4 && token.endsWith("s") && !token.endsWith("ss")) token = token.slice(0, -1);
  return token;
}

function tokens(text) {
  const found = new Set();
  for (const token of text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []) {
    const stemmed = stem(token);
    if (!STOPWORDS.has(stemmed)) found.add(stemmed);
  }
  return found;
}

/** [shared, union] of two answers' tokens. */
function similarity(a, b) {
  if (!a.tokens.size && !b.tokens.size) {
    return [Number(a.output.trim().toLowerCase() === b.output.trim().toLowerCase()), 1];
  }
  let shared = 0;
  for (const token of a.tokens) if (b.tokens.has(token)) shared += 1;
  return [shared, a.tokens.size + b.tokens.size - shared];
}

function reaches(a, b, perCent) {
  const [shared, union] = similarity(a, b);
  return shared * 100 >= union * perCent;
}

function risk(winner, count, answers) {
  const agreement = winner.length * 100;
  if (agreement >= count * 80) {
    let sum = 0;
    let pairs = 0;
    for (let i = 0; i < winner.length; i += 1) {
      for (let j = i + 1; j < winner.length; j += 1) {
        const [shared, union] = similarity(winner[i], winner[j]);
        sum += shared / union;
        pairs += 1;
      }
    }
    if (!pairs || sum / pairs >= 0.9) {
      return ["high", "Answers are nearly verbatim. High agreement may be copied rather than independent."];
    }
    if (winner[0].tokens.size < 4) {
      return ["high", "The agreed answer is too thin to treat as an independent consensus."];
    }
  }
  if (agreement >= count * 60) {
    const dissent = answers.some((answer) => !winner.includes(answer) && !reaches(winner[0], answer, 35));
    if (dissent) return ["medium", "A minority answer materially disagrees with the majority."];
    return ["low", "The majority agrees without a verbatim pile-on or a strong dissent."];
  }
  return ["low", "Agents disagree, so there is no false consensus and no stable majority."];
}

/** The documented fields of a consensus result. */
export function consensus(given) {
  const answers = given.map((answer, index) => ({
    output: answer.output,
    id: answer.agent_id ?? `answer-${index + 1}`,
    tokens: tokens(answer.output),
  }));
  const clusters = [];
  for (const answer of answers) {
    const home = clusters.find((cluster) => reaches(cluster[0], answer, 55));
    if (home) home.push(answer);
    else clusters.push([answer]);
  }
  let winner = clusters[0];
  for (const cluster of clusters) if (cluster.length > winner.length) winner = cluster;
  const [level, reason] = risk(winner, answers.length, answers);
  return {
    consensus_answer: winner[0].output,
    agreement_score: Math.round((winner.length / answers.length) * 100) / 100,
    false_consensus_risk: level,
    reasons: [reason, NOTE],
    clusters: clusters.map((cluster) => ({
      size: cluster.length,
      agent_ids: cluster.map((answer) => answer.id),
      representative: cluster[0].output,
    })),
    engine: "deterministic",
  };
}

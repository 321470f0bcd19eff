// The publisher's own engine: node engine.cjs NODE_MODULES MODEL < sentences.json > answers.json
const { readFileSync } = require("fs");
const [modules, folder] = process.argv.slice(2);
const { loadGraphModel } = require(`${modules}/@energetic-ai/core`);
const { initModel } = require(`${modules}/@energetic-ai/embeddings`);

async function main() {
  const encoder = await initModel(async () => ({
    model: await loadGraphModel(`file://${folder}/model.json`),
    vocabulary: JSON.parse(readFileSync(`${folder}/vocab.json`, "utf-8")),
  }));
  const answers = [];
  for (const sentence of JSON.parse(readFileSync(0, "utf-8"))) {
    const ids = encoder.tokenizer.encode(sentence);
    answers.push({ ids, vector: ids.length ? await encoder.embed(sentence) : null });
  }
  process.stdout.write(JSON.stringify(answers));
}
main();

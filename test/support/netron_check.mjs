// Opens a model file the way the viewer Netron does, without a screen, and prints what it shows as JSON:
//
//     node netron_check.mjs FOLDER_OF_THE_NETRON_PACKAGE FILE
//
// { format, graphs: [{ name, nodes: [{ name, type, inputs, outputs, attributes }], tensors: [{ name, type, bytes, sha256 }] }] }
//
// Exit status 1 and a message on standard error when Netron cannot open the file or cannot show one of its weights.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { register } from 'node:module';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, file] = process.argv.slice(2);
const root = `${pathToFileURL(fs.realpathSync(folder)).href}/`;

// The Python package of Netron does not say that its .js files are ES modules: this loader hook does.
const hook = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
export const load = async (url, context, next) => url.startsWith(${JSON.stringify(root)}) && url.endsWith('.js') ?
    { format: 'module', source: await readFile(fileURLToPath(url)), shortCircuit: true } : next(url, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const load = (name) => import(`${root}${name}`);

const base = await load('base.js');
const view = await load('view.js');
const { FileStream } = await load('node.js');
await (await load('zip.js')).Archive.import();

const problems = [];
const host = {
    environment: () => undefined,
    event: () => undefined,
    exception: (error) => problems.push(error),
    require: (name) => load(`${name.replace('./', '')}.js`),
    asset: (name) => fs.promises.readFile(path.join(folder, name), 'utf-8')
};
const status = fs.statSync(file);
const context = {
    identifier: path.basename(file),
    stream: new FileStream(file, 0, status.size, status.mtimeMs),
    entries: new Map(),
    asset: host.asset,
    require: host.require,
    fetch: (name) => { throw new Error(`The file '${name}' does not exist.`); },
    error: (error) => problems.push(error)
};

const valuesOf = (argument) => (argument.value || []).filter((value) => value !== null);

const describeTensor = async (name, initializer) => {
    if (initializer.peek && !initializer.peek()) {
        await initializer.read();
    }
    const tensor = new base.Tensor(initializer);
    if (!tensor.empty) { // as for external weights: Netron shows that there are no data
        tensor.toString(); // what the side bar does; throws when the bytes do not fill the shape
    }
    const data = tensor.empty ? new Uint8Array() : tensor.data;
    return {
        name,
        type: initializer.type.toString(),
        bytes: data.length,
        sha256: createHash('sha256').update(Buffer.from(data)).digest('hex')
    };
};

const describeGraph = async (graph) => {
    const tensors = new Map();
    const nodes = [];
    for (const node of graph.nodes) {
        const inputs = node.inputs.flatMap(valuesOf);
        for (const value of inputs) {
            if (value.initializer && !tensors.has(value.name)) {
                tensors.set(value.name, await describeTensor(value.name, value.initializer));
            }
        }
        nodes.push({
            name: node.name,
            type: node.type.name,
            inputs: inputs.map((value) => value.name),
            outputs: node.outputs.flatMap(valuesOf).map((value) => `${value.name} ${value.type}`),
            attributes: Object.fromEntries(node.attributes.map((attribute) =>
                [attribute.name, new view.Formatter(attribute.value, attribute.type).toString()]))
        });
    }
    return { name: graph.name, nodes, tensors: [...tensors.values()] };
};

try {
    const model = await new view.ModelFactoryService(host).open(context);
    const graphs = [];
    for (const graph of model.modules) {
        graphs.push(await describeGraph(graph));
    }
    process.stdout.write(`${JSON.stringify({ format: model.format, graphs })}\n`);
} catch (error) {
    problems.push(error);
}
for (const problem of problems) {
    process.stderr.write(`${problem.name}: ${problem.message}\n`);
    process.exitCode = 1;
}

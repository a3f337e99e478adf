"""Finds the nodes of the model that each row of a profile executes.

An optimizer fuses, renames and adds nodes. Tensors keep their names for longer than nodes do, so a row's
nodes are those of the model between the tensors that the row writes and the tensors that rows write before
it (its region).
"""

import re

ACTIVATIONS = {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "Clip"}
ADDED = {"ReorderInput", "ReorderOutput", "MemcpyToHost", "MemcpyFromHost"}
SUFFIX = re.compile(r"(_nchwc|_nhwc|_token_\d+|/QuickGeluFusion/?|/WithoutBiases)$")
PREFIX = re.compile(r"^Inserted(PrecisionFree)?Cast_")  # ONNX Runtime's tensor of another type
MOST_NAMES = 2000


def stems(name):
    """Returns the name, then the name without its suffixes and prefix, one after another, then without its
    last parts after '/'."""
    seen = [name]
    while True:
        shorter = SUFFIX.sub("", seen[-1])
        if shorter == seen[-1]:
            shorter = PREFIX.sub("", seen[-1])
        if shorter == seen[-1]:
            break
        seen.append(shorter)
    while "/" in seen[-1].strip("/"):
        seen.append(seen[-1].rstrip("/").rpartition("/")[0])
    return seen


class Row:
    """A node of the framework's own graph; its tensors have the framework's names."""

    def __init__(self, name, op, inputs=(), outputs=(), nodes=()):
        self.name, self.op = name, op
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.nodes = set(nodes)  # indices of the model's nodes


class Trace:
    def __init__(self, graph):
        self.graph = graph
        self.by_name = {}
        for i, node in enumerate(graph.nodes):
            self.by_name.setdefault(node.label(), i)
        self.tensors = set(graph.producer) | {name for name, *_ in graph.inputs} | set(graph.initializers)
        self.body_names = set()
        self.collect_bodies(graph.nodes)

    def collect_bodies(self, nodes):
        for node in nodes:
            for body in node.bodies:
                self.body_names.update(inner.label() for inner in body.nodes)
                self.collect_bodies(body.nodes)

    def node_named(self, name):
        """Returns the index of the model's node that a framework's name stands for, by the name of the node
        or of a tensor that it writes; None if no node has such a name."""
        found = self.by_name.get(name, self.graph.producer.get(name))
        if found is not None:
            return found
        return next((self.by_name[stem] for stem in stems(name) if stem in self.by_name), None)

    # -- by tensors

    def alias_outputs(self, row, alias):
        """Maps the row's outputs to the model's names of the same tensors, where they can be found."""
        held = [alias.get(name, name) for name in row.inputs]
        for k, name in enumerate(row.outputs):
            if name in self.tensors:
                alias[name] = name
                continue
            found = None
            if k == 0:  # blocked-layout nodes of ONNX Runtime are named after their output
                found = next((stem for stem in stems(row.name)[:3] if stem in self.tensors), None)
                found = self.extended(found, held) if found else None
            if not found:
                node = self.node_named(row.name)
                outputs = self.graph.nodes[node].outputs if node is not None else []
                found = outputs[k] if k < len(outputs) else None
            if not found and len(row.inputs) == 1 and len(row.outputs) == 1:
                found = held[0] if held[0] in self.tensors else None  # a reorder, a copy
            if found:
                alias[name] = found

    def extended(self, tensor, held):
        """Returns the output of a fused Add and activation after a tensor. `held`: the other inputs of the
        row."""
        while tensor not in self.graph.output_names:
            readers = self.graph.consumers.get(tensor, [])
            if len(readers) != 1:
                break
            node = self.graph.nodes[readers[0]]
            others = [
                name for name in node.inputs if name and name != tensor and name not in self.graph.constants
            ]
            if (
                node.op == "Add"
                and len(others) == 1
                and others[0] in held
                or node.op in ACTIVATIONS
                and not others
            ):
                if node.outputs[0] in self.named:
                    break
                tensor = node.outputs[0]
            else:
                break
        return tensor

    def region(self, starts, stops):
        """Returns the indices of the nodes that compute `starts`, back to `stops`, without constants."""
        seen, todo = set(), [name for name in starts if name not in stops]
        while todo:
            i = self.graph.producer.get(todo.pop())
            if i is None or i in seen or i in self.graph.constant_nodes:
                continue
            seen.add(i)
            todo += [
                name
                for name in self.graph.nodes[i].inputs
                if name and name not in stops and name not in self.graph.constants
            ]
        return seen

    def by_tensors(self, rows):
        """Sets the nodes of rows, which are in topological order."""
        alias = {}
        computed = [row for row in rows if row.op not in ADDED]
        self.named = {
            stem for row in computed for name in [row.name] + row.outputs for stem in stems(name)[:3]
        }
        for row in rows:
            self.alias_outputs(row, alias)
        written = {alias[name] for row in rows for name in row.outputs if name in alias}
        for row in rows:
            mine = {alias[name] for name in row.outputs if name in alias}
            held = {alias.get(name, name) for name in row.inputs}
            row.nodes |= self.region(mine - held, (written - mine) | held)
            own = self.by_name.get(row.name)
            if own is not None and self.graph.nodes[own].op == row.op:
                row.nodes.add(own)
            row.inputs = [alias.get(name, name) for name in row.inputs]
            row.outputs = [alias.get(name, name) for name in row.outputs]

    # -- by names

    def by_names(self, row, names):
        """Adds the nodes that the framework itself reports for a row."""
        row.nodes |= {i for i in map(self.node_named, names) if i is not None}

    @staticmethod
    def once(rows):
        """Assigns a node that several rows report to the last of them: an optimizer keeps the name of a
        folded node for the rows that prepare its operands."""
        taken = set()
        for row in reversed(rows):
            row.nodes -= taken
            taken |= row.nodes

    def fill(self, rows):
        """Assigns a node without a row to the row that has all its consumers, else to the one that has all
        its producers: a convolution renamed by folding its scale, a Pad inside a Conv, a Reshape that only
        changes a descriptor."""
        owner = {i: row for row in rows for i in row.nodes}
        graph = self.graph
        loose = [i for i in range(len(graph.nodes)) if i not in owner and i not in graph.constant_nodes]

        def claim(i, neighbours):
            found = {id(owner[n]): owner[n] for n in neighbours if n in owner}
            if len(found) == 1 and all(n in owner or n in graph.constant_nodes for n in neighbours):
                owner[i] = next(iter(found.values()))
                owner[i].nodes.add(i)

        for i in reversed(loose):
            claim(i, [n for name in graph.nodes[i].outputs for n in graph.consumers.get(name, [])])
        for i in loose:
            if i not in owner:
                claim(i, [graph.producer[name] for name in graph.nodes[i].inputs if name in graph.producer])

    # -- the result

    def write(self, row, into):
        """Sets `nodes`, `inputs` and `outputs` of a row of docs/wire.md; tensors have the model's names."""
        graph = self.graph
        inside = sorted(row.nodes)
        made = {name for i in inside for name in graph.nodes[i].outputs if name}
        if inside:
            read = [name for i in inside for name in graph.nodes[i].inputs]
            into["inputs"] = unique(n for n in read if n and n not in made and n not in graph.constants)
            into["outputs"] = unique(
                name
                for i in inside
                for name in graph.nodes[i].outputs
                if name
                and (
                    name in graph.output_names
                    or not graph.consumers.get(name)
                    or any(c not in row.nodes for c in graph.consumers[name])
                )
            )
        else:
            into["inputs"] = unique(n for n in row.inputs if n and n not in graph.constants)
            into["outputs"] = unique(n for n in row.outputs if n)
        into["nodes"] = unique(graph.nodes[i].label() for i in inside)
        if not into["nodes"] and row.name in self.body_names:
            into["nodes"] = [row.name]


def unique(names):
    return list(dict.fromkeys(names))[:MOST_NAMES]

#!/usr/bin/env python3
"""Runs piglit's profiles quick_gl and quick_shader through `skrymir gles`, in shards that can be resumed.

Usage: piglit_all.py --piglit FOLDER --root FOLDER --skrymir FILE [--results FILE] [--shard I/N] [--only PATTERN] [-- OPTIONS]

Each test is a line of JSON in the results: its name, how it ended, its subtests, its seconds, and the emulator's faults.
Tests that are in the results already are not run again. At the end every verdict, subtests included, is compared with what
Mesa's runs on a Mali-450 say (tests/gles/piglit-all-fails.txt); the exit code is 1 when fewer than 99 % agree.
"""

import argparse
import ast
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
PROFILES = ["quick_gl", "quick_shader"]
# A test that always prints a result.
TRIAL = ["bin/shader_runner", "tests/spec/glsl-1.10/execution/vs-mat2-array-assignment.shader_test", "-auto", "-fbo"]
# Some programs print other text before it.
RESULT = re.compile(r"PIGLIT: (\{.*\})\s*$", re.MULTILINE)
# Programs that Debian's package lacks, or that need unavailable libraries.
MISSING = re.compile(r"^skrymir: cannot read .*No such file|error while loading shared libraries", re.MULTILINE)
# Unsupported by this version of Mesa, unlike the hardware's: a program without outputs.
DRIVER = re.compile(r"^lima: create fs shader bo fail", re.MULTILINE)
FAULT = re.compile(r"^skrymir: device .* job .*: [GP]P job: .*$", re.MULTILINE)


def lines(name):
    text = (HERE / "gles" / name).read_text()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def tests(piglit):
    """Name and command of every test in Mesa's runs."""
    skips = [re.compile(pattern, re.IGNORECASE) for pattern in lines("piglit-all-skips.txt")]
    for profile in PROFILES:
        root = ElementTree.parse(gzip.open(piglit / "tests" / f"{profile}.xml.gz")).getroot()
        for test in root:
            name = test.get("name")
            if any(skip.search(name) for skip in skips):
                continue
            options = {option.get("name"): ast.literal_eval(option.get("value")) for option in test}
            command = list(options["command"])
            # This test needs the whole path of its file, others only the part after the folder of tests.
            if command[0].startswith("built-in-constants"):
                command[1] = str(piglit / "tests" / command[1])
            command[0] = "bin/" + command[0]
            command.append("-auto")
            if options.get("run_concurrent") and test.get("type") != "gl_builtin":
                command.append("-fbo")
            yield name, command


def run(arguments, name, command):
    """Runs one test; returns its entry in the results."""
    whole = [arguments.skrymir, "gles", "--root", arguments.root, *arguments.options, "--", *command]
    start = time.monotonic()
    try:
        done = subprocess.run(
            whole, cwd=arguments.piglit, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=arguments.timeout
        )
        text, code = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as error:
        text, code = (error.stdout or b"").decode(errors="replace"), 124
    verdict, subtests = "crash" if code != 124 else "timeout", {}
    for found in RESULT.findall(text):
        try:
            values = json.loads(found)
        except ValueError:
            continue
        verdict = values.get("result", verdict)
        subtests.update(values.get("subtest", {}))
    if code >= 124:
        verdict = "timeout" if code == 124 else "crash"
    if "the emulator failed" in text:
        verdict = "emulator-crash"
    if verdict == "crash" and MISSING.search(text):
        verdict = "missing"
    result = {
        "name": name,
        "result": verdict,
        "subtests": subtests,
        "seconds": round(time.monotonic() - start, 2),
        "faults": FAULT.findall(text),
    }
    if DRIVER.search(text):
        result["driver_failed"] = True
    if not RESULT.search(text):
        result["last_words"] = text[-400:]
    return result


def compare(results):
    """Number of equal results, and the different ones: name, result on hardware, result here.

    The list has "-" for "," in names of subtests. If it names a test without its subtests, the test ended on hardware before them,
    so their results are unknown. Also excluded are tests that cannot run here, or that Debian's version of the driver fails.
    """
    fails = set(lines("piglit-all-fails.txt"))
    agree, differ = 0, []
    for result in results.values():
        if result["result"] == "missing" or result.get("driver_failed"):
            continue
        verdicts = [(result["name"], result["result"])]
        beginning = result["name"] + "@"
        whole = result["name"] in fails and not any(name.startswith(beginning) for name in fails)
        subtests = {} if whole else result["subtests"]
        verdicts += [(f"{result['name']}@{subtest.replace(',', '-')}", verdict) for subtest, verdict in subtests.items()]
        for name, verdict in verdicts:
            here = "pass" if verdict in ("pass", "skip", "warn") else "fail"
            board = "fail" if name in fails else "pass"
            if here == board:
                agree += 1
            else:
                differ.append((name, board, verdict))
    return agree, sorted(differ)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--piglit", type=pathlib.Path, required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--skrymir", required=True)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("piglit-results.jsonl"))
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    arguments.results = arguments.results.resolve()
    shard, shards = (int(number) for number in arguments.shard.split("/"))
    if not 1 <= shard <= shards:
        parser.error(f"--shard {arguments.shard}: from 1/N to N/N")
    results = {}
    if arguments.results.exists():
        for line in arguments.results.read_text().splitlines():
            result = json.loads(line)
            results[result["name"]] = result
    chosen = [test for test in tests(arguments.piglit) if re.search(arguments.only, test[0])]
    mine = [test for number, test in enumerate(chosen) if number % shards == shard - 1]
    left = [test for test in mine if test[0] not in results]
    print(f"{len(chosen)} tests, {len(mine)} in shard {shard} of {shards}, {len(left)} left", file=sys.stderr)
    if left and "last_words" in (trial := run(arguments, "trial", TRIAL)):
        sys.exit(f"no program of piglit starts: {trial['last_words']}")
    start = time.monotonic()
    with arguments.results.open("a") as file, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = [pool.submit(run, arguments, *test) for test in left]
        for number, done in enumerate(concurrent.futures.as_completed(waiting), 1):
            result = done.result()
            results[result["name"]] = result
            file.write(json.dumps(result) + "\n")
            file.flush()
            pace = (time.monotonic() - start) / number
            last = f"{result['result']} {result['name']}"
            line = f"{number} of {len(left)}, {pace * (len(left) - number) / 60:.0f} minutes left: {last}"
            print(f"\r{line[:110]:110}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    run_here = {name: results[name] for name, _ in mine if name in results}
    agree, differ = compare(run_here)
    for name, board, verdict in differ:
        print(f"{name}: {board} on hardware, {verdict} here")
    kinds = [result["result"] for result in run_here.values()]
    for kind in sorted(set(kinds)):
        print(f"{kind}: {kinds.count(kind)}")
    print(f"with faults: {sum(bool(result['faults']) for result in run_here.values())}")
    print(f"driver failed, not compared: {sum('driver_failed' in result for result in run_here.values())}")
    share = 100 * agree / max(1, agree + len(differ))
    print(f"{agree} of {agree + len(differ)} verdicts agree with hardware, {share:.2f} %")
    return 0 if share >= 99 else 1


if __name__ == "__main__":
    sys.exit(main())
